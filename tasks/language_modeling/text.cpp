// Predicts every byte of a file of the user from the bytes before it.
//
//   to be or not to be|        every byte but the first is predicted and scored
//
// The first 80 % of the bytes are for training, the next 10 % for validation, the last 10 % for tests; a sample is
// a window at a uniform place of its part. The ids are those of the bytes that occur in the file, in ascending
// order. Without a file the text is the numbers from one to 9999 in English.
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/crc.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::text {
namespace {

const TaskInfo kInfo{
    .name = "text",
    .family = "language_modeling",
    .definition =
        "The model reads bytes of a file of the user and predicts every next byte. "
        "Training, validation and tests have separate parts of the file.",
    .requirement =
        "Recent bytes decide most. More distant bytes help a little, and must not do harm at lengths that were "
        "not trained.",
    .source =
        "Press et al. 2022, arXiv:2108.12409; Chi et al. 2022, arXiv:2205.09921; Zheng et al. 2024, "
        "arXiv:2405.14722",
    .published =
        "The papers report the perplexity of language models on longer sequences than trained. "
        "The loss by length and by position shows the same at a small size. "
        "Without a file the text consists of numbers in English.",
    .length_unit = "bytes",
    .causal_only = true,
    .splits = {{"in_distribution", {}, "the trained length, in the part for tests"},
               {"ood_length2", {{"length", "2x"}}, "twice the trained length"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained length"}},
    .largest_answer_fraction = 0.15,
    .shortcuts = {.token = 0.46},
};

/// Returns the English name of n, 1 <= n <= 9999.
std::string english_name(int n) {
  static constexpr std::array<const char*, 20> kSmall{"",        "one",     "two",       "three",    "four",
                                                      "five",    "six",     "seven",     "eight",    "nine",
                                                      "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                                      "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
  static constexpr std::array<const char*, 10> kTens{"",      "",      "twenty",  "thirty", "forty",
                                                     "fifty", "sixty", "seventy", "eighty", "ninety"};
  if (n >= 1000)
    return std::string(kSmall[n / 1000]) + " thousand" + (n % 1000 > 0 ? " " + english_name(n % 1000) : "");
  if (n >= 100)
    return std::string(kSmall[n / 100]) + " hundred" + (n % 100 > 0 ? " " + english_name(n % 100) : "");
  if (n >= 20) return std::string(kTens[n / 10]) + (n % 10 > 0 ? std::string("-") + kSmall[n % 10] : "");
  return kSmall[n];
}

/// Returns the numbers in an order in which neighbors have little in common, so that all parts have all words.
std::string built_in_text() {
  constexpr int kCount = 9999, kStep = 3571;  // without a common divisor
  std::string text;
  for (int n = 0; n < kCount; ++n)
    text += english_name(static_cast<int>(static_cast<long>(n) * kStep % kCount) + 1) + "\n";
  return text;
}

std::string read_text(const std::string& file) {
  constexpr std::uintmax_t kMaxBytes = std::uintmax_t{1} << 30;
  const auto refuse = [&](const char* why) {
    return InputError(fmt::format("task 'text': file '{}' {}; expected the path of a file of up to {} bytes", file,
                                  why, kMaxBytes));
  };
  try {
    return read_file(file, kMaxBytes);
  } catch (const std::bad_alloc&) {
    throw refuse("does not fit into memory");
  } catch (const FileError&) {
    throw refuse("cannot be read");
  } catch (const InputError&) {
    throw refuse("is too large");
  }
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

/// Returns one copy of a file for all tasks that use it at the same time.
std::shared_ptr<const Corpus> corpus_of(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const Corpus>> open;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Corpus> corpus = open[file].lock();
  if (!corpus)
    open[file] = corpus = std::make_shared<const Corpus>(file.empty() ? built_in_text() : read_text(file));
  return corpus;
}

struct Options {
  Integers length{64};
  std::string file, crc32;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, 100000, "bytes");
    o.text("file", file, "a path", "the text; without a file, numbers in English");
    o.text("crc32", crc32, "eight hexadecimal digits", "checksum that the file must have; empty: any");
  }
};

class Text final : public BasicTask<Options> {
 public:
  Text(const Options& options, Layout layout) : BasicTask(options, layout), corpus_(corpus_of(options.file)) {
    const std::string& text = corpus_->text;
    if (!options.crc32.empty()) {
      boost::crc_32_type crc;
      crc.process_bytes(text.data(), text.size());
      const std::string found = fmt::format("{:08x}", crc.checksum());
      if (found != lower_case(options.crc32)) {
        throw InputError(fmt::format(
            "task 'text': file '{}' has crc32 {}, not {}; use the file with this checksum or change crc32",
            options.file, found, options.crc32));
      }
    }
    const size_t least = 10 * (static_cast<size_t>(options.length.max()) + 1);
    if (text.size() < least) {
      throw InputError(fmt::format(
          "task 'text': file '{}' has {} bytes, but a length of {} needs {}, because a tenth is for tests; use a "
          "longer text or a shorter length",
          options.file, text.size(), options.length.max(), least));
    }
  }

  int vocabulary() const override { return std::max(2, static_cast<int>(corpus_->bytes.size())); }
  double chance_level() const override { return 1.0 / vocabulary(); }
  std::string token_text(int token) const override {
    const unsigned char byte = static_cast<size_t>(token) < corpus_->bytes.size()
                                   ? static_cast<unsigned char>(corpus_->bytes[static_cast<size_t>(token)])
                                   : 0;
    return byte > 32 && byte < 127 ? std::string(1, static_cast<char>(byte)) : fmt::format("\\x{:02x}", byte);
  }

  Example sample(int length, Rng& rng) const override { return sample_of(Purpose::train, length, rng); }
  bool has_separate_tests() const override { return true; }

  Example sample_of(Purpose purpose, int length, Rng& rng) const override {
    const int size = static_cast<int>(corpus_->text.size()), tenth = size / 10;
    const bool training = purpose == Purpose::train || purpose == Purpose::further_training;
    const int begin = training ? 0 : size - (purpose == Purpose::validation ? 2 : 1) * tenth;
    const int end = training ? size - 2 * tenth : begin + tenth;
    const int first = uniform(rng, begin, end - length - 1);
    std::vector<int> window, scored(static_cast<size_t>(length) - 1);
    for (int n = first; n <= first + length; ++n)
      window.push_back(corpus_->ids[static_cast<unsigned char>(corpus_->text[static_cast<size_t>(n)])]);
    std::iota(scored.begin(), scored.end(), 0);
    return predict_next(std::move(window), std::move(scored), Loss::noisy);
  }

 private:
  std::shared_ptr<const Corpus> corpus_;
};

const RegisterTask<Text> registered{kInfo};

}  // namespace
}  // namespace posbench::text
