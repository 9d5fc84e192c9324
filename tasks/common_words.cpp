// Common words: the words of a list that occur several times, while all others occur once.
//
//   w9 w4 w2 w9 w7 w2 w2 w9 =   ->   w2 w9        common=2, repeats=3
//
// Words are uniform over the vocabulary, and the list is in random order, which does not matter. The answer is in
// the order of the vocabulary, so that it is unique.
//
// Hsieh et al. 2024 (RULER), arXiv:2404.06654; code NVIDIA/RULER: ten common words, 30 times each, the others 3
// times; below 4096 tokens 6 times and once.
#include <algorithm>
#include <stdexcept>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class CommonWords final : public Task {
 public:
  struct Options {
    Integers length{12, 20};
    int common = 3, repeats = 6, symbols = 64;
    void describe(OptionTable& o) {
      o.integers("length", length, 0, 10000, "words that occur once");
      o.integer("common", common, 1, 100, "words that occur several times");
      o.integer("repeats", repeats, 2, 100, "how often each of those occurs");
      o.integer("symbols", symbols, 2, 10000, "words of the vocabulary");
    }
  };

  CommonWords(const Options& options, Layout layout) : options_(options), layout_(layout) {
    if (options.length.max() + options.common > options.symbols) {
      throw std::invalid_argument(fmt::format(
          "task 'common_words': length {} and common {} need {} symbols, not {}; raise symbols",
          options.length.max(), options.common, options.length.max() + options.common, options.symbols));
    }
  }

  int vocabulary() const override { return options_.symbols + 1; }
  double chance_level() const override { return 1.0 / options_.symbols; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    return token == options_.symbols ? "=" : fmt::format("w{}", token);
  }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> list = distinct(rng, options_.symbols, length + options_.common);
    shuffle<int>(list, rng);
    std::vector<int> common(list.begin(), list.begin() + options_.common);
    for (int repeat = 1; repeat < options_.repeats; ++repeat)
      list.insert(list.end(), common.begin(), common.end());
    shuffle<int>(list, rng);
    std::sort(common.begin(), common.end());
    return ask(layout_, std::move(list), options_.symbols, common);
  }

 private:
  Options options_;
  Layout layout_;
};

const RegisterTask<CommonWords> registered{{
    .name = "common_words",
    .family = "counting",
    .definition = "Reads a list of words, a few of which occur several times, and answers those, in the order of "
                  "the vocabulary.",
    .takes = "The model has to compare how often words occur; where they stand does not matter.",
    .source = "Hsieh et al. 2024, arXiv:2404.06654; code NVIDIA/RULER",
    .published_name = "common words extraction (CWE)",
    .published = "Ten common words of English, 30 times each beside 3 times for the others (6 and once below 4096 "
                 "tokens), numbered, to prompt large models with an example; any order of the answer counts. Ours "
                 "is smaller: three common words, 6 times each, the others once.",
    .length_unit = "words that occur once",
    .splits = {{"in_distribution", {}, "the trained list"},
               {"ood_length", {{"length", "1.95x..3x"}}, "more words that occur once"},
               {"ood_repeats", {{"repeats", "3"}}, "common words that occur half as often"}},
}};

}  // namespace
}  // namespace posbench
