// Finds the words of a list that occur several times.
//
//   w9 w4 w2 w9 w7 w2 w2 w9 =   ->   w2 w9        common=2, repeats=3
//
// Words are uniform over the vocabulary, and the list is in random order. The answer is in the order of the
// vocabulary, so that it is unique.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::common_words {
namespace {

const TaskInfo kInfo{
    .name = "common_words",
    .family = "counting",
    .aspects = {Aspect::counting, Aspect::aggregation},
    .definition =
        "The model reads a list of words, a few of which occur several times, and answers these, in the order "
        "of the vocabulary.",
    .requirement = "The model has to compare how often words occur. Their positions do not matter.",
    .source = "Hsieh et al. 2024, arXiv:2404.06654; code NVIDIA/RULER",
    .published_name = "common words extraction (CWE)",
    .published =
        "RULER prompts large models with ten numbered English words that occur 30 times each, while the others "
        "occur 3 times (below 4096 tokens 6 times and once). "
        "It gives an example, and any order of the answer counts. "
        "Here the task is smaller: three words occur 6 times each, the others once.",
    .length_unit = "words that occur once",
    .splits = {{"in_distribution", {}, "the trained list"},
               {"ood_length", {{"length", "1.95x..3x"}}, "more words that occur once"},
               {"ood_repeats", {{"repeats", "3"}}, "common words that occur half as often"}},
    .shortcuts = {.token = 0.17, .neighbor = 0.13, .count = 0.06},
};

struct Options {
  Integers length{12, 20};
  int common = 3, repeats = 6, symbols = 64;
  void describe(OptionTable& o) {
    o.integers("length", length, 0, 10000, "words that occur once");
    o.integer("common", common, 1, 100, "words that occur several times");
    o.integer("repeats", repeats, 2, 100, "occurrences of each of these words");
    o.integer("symbols", symbols, 2, 10000, "words of the vocabulary");
  }
};

class CommonWords final : public BasicTask<Options> {
 public:
  CommonWords(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.length.max() + options.common > options.symbols) {
      throw InputError(fmt::format(
          "task 'common_words': length {} and common {} need {} symbols, not {}; raise symbols",
          options.length.max(), options.common, options.length.max() + options.common, options.symbols));
    }
  }

  int vocabulary() const override { return options_.symbols + 1; }
  double chance_level() const override { return 1.0 / options_.symbols; }
  std::string token_text(int token) const override {
    return token == options_.symbols ? "=" : fmt::format("w{}", token);
  }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> list = distinct_ids(rng, 0, options_.symbols, length + options_.common);
    std::vector<int> common(list.begin(), list.begin() + options_.common);
    for (int repeat = 1; repeat < options_.repeats; ++repeat)
      list.insert(list.end(), common.begin(), common.end());
    shuffle<int>(list, rng);
    std::sort(common.begin(), common.end());
    return ask(layout_, std::move(list), options_.symbols, common);
  }
};

const RegisterTask<CommonWords> registered{kInfo};

}  // namespace
}  // namespace posbench::common_words
