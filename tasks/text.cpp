// Text: the bytes of a file of the user's, each predicted from those before it.
//
//   to be or not to be|        every byte but the first is predicted and scored
//
// The file is split once: the first 80 % of its bytes are for training, the next 10 % for validation, the last 10 % for
// tests. A sample is a window at a uniform place of its part. The ids are those of the bytes that occur in the file, in
// ascending order. Without a file the text is the numbers from one to 9999 in English words, which needs nothing.
//
// Loss by length and by position, the curves of perplexity of Press et al. 2022, arXiv:2108.12409 (ALiBi), Chi et al.
// 2022, arXiv:2205.09921 (KERPLE) and Zheng et al. 2024, arXiv:2405.14722 (DAPE), in small.
#include <algorithm>
#include <array>
#include <boost/crc.hpp>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

/// 1 <= n <= 9999.
std::string in_words(int n) {
  static constexpr std::array<const char*, 20> kSmall{
      "",        "one",     "two",       "three",    "four",     "five",    "six",       "seven",    "eight",   "nine",
      "ten",     "eleven",  "twelve",    "thirteen", "fourteen", "fifteen", "sixteen",   "seventeen", "eighteen", "nineteen"};
  static constexpr std::array<const char*, 10> kTens{"",      "",      "twenty",  "thirty", "forty",
                                                     "fifty", "sixty", "seventy", "eighty", "ninety"};
  if (n >= 1000) return std::string(kSmall[n / 1000]) + " thousand" + (n % 1000 > 0 ? " " + in_words(n % 1000) : "");
  if (n >= 100) return std::string(kSmall[n / 100]) + " hundred" + (n % 100 > 0 ? " " + in_words(n % 100) : "");
  if (n >= 20) return std::string(kTens[n / 10]) + (n % 10 > 0 ? std::string("-") + kSmall[n % 10] : "");
  return kSmall[n];
}

/// The numbers in an order in which neighbours have little in common, so that all parts have all words.
std::string built_in_text() {
  constexpr int kCount = 9999, kStep = 3571;  // without a common divisor
  std::string text;
  for (int n = 0; n < kCount; ++n) text += in_words(static_cast<int>(static_cast<long>(n) * kStep % kCount) + 1) + "\n";
  return text;
}

std::string read_text(const std::string& file) {
  constexpr std::streamoff kMaxBytes = std::streamoff{1} << 30;
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = stream ? static_cast<std::streamoff>(stream.tellg()) : -1;
  if (size < 0 || size > kMaxBytes) {
    throw std::invalid_argument(
        fmt::format("task 'text': file is '{}', which {}; expected the path of a file of up to {} bytes", file,
                    size < 0 ? "cannot be read" : "is larger", kMaxBytes));
  }
  std::string text(static_cast<size_t>(size), '\0');
  stream.seekg(0);
  if (!stream.read(text.data(), size)) throw std::invalid_argument(fmt::format("task 'text': '{}' cannot be read", file));
  return text;
}

/// The bytes of a file and the ids of those that occur.
struct Corpus {
  std::string text, bytes;
  std::array<int, 256> ids{};

  explicit Corpus(std::string all) : text(std::move(all)) {
    std::array<bool, 256> occurs{};
    for (const char byte : text) occurs[static_cast<unsigned char>(byte)] = true;
    for (int byte = 0; byte < 256; ++byte) {
      ids[byte] = static_cast<int>(bytes.size());
      if (occurs[byte]) bytes += static_cast<char>(byte);
    }
  }
};

/// One copy of a file for all that use it at the same time.
std::shared_ptr<const Corpus> corpus_of(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const Corpus>> open;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Corpus> corpus = open[file].lock();
  if (!corpus) open[file] = corpus = std::make_shared<const Corpus>(file.empty() ? built_in_text() : read_text(file));
  return corpus;
}

class Text final : public Task {
 public:
  struct Options {
    Integers length{64};
    std::string file, crc32;
    void describe(OptionTable& o) {
      o.integers("length", length, 2, 100000, "bytes");
      o.text("file", file, "a path", "the text; numbers in words without one");
      o.text("crc32", crc32, "eight hexadecimal digits", "of the file, which must have it; empty: any");
    }
  };

  Text(const Options& options, Layout) : options_(options), corpus_(corpus_of(options.file)) {
    const std::string& text = corpus_->text;
    if (!options.crc32.empty()) {
      boost::crc_32_type crc;
      crc.process_bytes(text.data(), text.size());
      const std::string found = fmt::format("{:08x}", crc.checksum());
      if (found != options.crc32) {
        throw std::invalid_argument(fmt::format("task 'text': the file '{}' has crc32 {}, expected {}: it is another text",
                                                options.file, found, options.crc32));
      }
    }
    const size_t least = 10 * (static_cast<size_t>(options.length.max()) + 1);
    if (text.size() < least) {
      throw std::invalid_argument(fmt::format(
          "task 'text': '{}' has {} bytes, and windows of {} need {}, since a tenth is for tests; take a longer text or a "
          "shorter length",
          options.file, text.size(), options.length.max(), least));
    }
  }

  int vocabulary() const override { return std::max(2, static_cast<int>(corpus_->bytes.size())); }
  double chance_level() const override { return 1.0 / vocabulary(); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    const unsigned char byte = static_cast<size_t>(token) < corpus_->bytes.size()
                                   ? static_cast<unsigned char>(corpus_->bytes[static_cast<size_t>(token)])
                                   : 0;
    return byte > 32 && byte < 127 ? std::string(1, static_cast<char>(byte)) : fmt::format("\\x{:02x}", byte);
  }

  Example sample(int length, Rng& rng) const override { return sample_of(Purpose::training, length, rng); }

  Example sample_of(Purpose purpose, int length, Rng& rng) const override {
    const int size = static_cast<int>(corpus_->text.size()), tenth = size / 10;
    const int begin = purpose == Purpose::training ? 0 : size - (purpose == Purpose::validation ? 2 : 1) * tenth;
    const int end = purpose == Purpose::training ? size - 2 * tenth : begin + tenth;
    const int first = uniform(rng, begin, end - length - 1);
    std::vector<int> window, scored(static_cast<size_t>(length) - 1);
    for (int n = first; n <= first + length; ++n)
      window.push_back(corpus_->ids[static_cast<unsigned char>(corpus_->text[static_cast<size_t>(n)])]);
    std::iota(scored.begin(), scored.end(), 0);
    return predict_next(std::move(window), std::move(scored), Loss::noisy);
  }

 private:
  Options options_;
  std::shared_ptr<const Corpus> corpus_;
};

const RegisterTask<Text> registered{{
    .name = "text",
    .family = "language modelling",
    .definition = "Reads bytes of a file of the user's and predicts every next one. Training, validation and tests have "
                  "parts of the file of their own.",
    .takes = "Recent bytes decide most; more distant ones help a little, and must not do harm at lengths that "
             "were not trained.",
    .source = "Press et al. 2022, arXiv:2108.12409; Chi et al. 2022, arXiv:2205.09921; Zheng et al. 2024, arXiv:2405.14722",
    .published = "The papers report the perplexity of language models on longer sequences than trained; in small, the loss "
                 "by length and by position shows the same. Without a file the text is numbers in English words.",
    .length_unit = "bytes",
    .causal_only = true,
    .splits = {{"in_distribution", {}, "the trained length, in the part for tests"},
               {"ood_length2", {{"length", "2x"}}, "twice the trained length"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained length"}},
    .largest_answer_fraction = 0.15,
}};

}  // namespace
}  // namespace posbench
