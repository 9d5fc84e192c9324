// Finds the most frequent words of a text in which frequency falls with a power of rank.
//
//   . w5 . . w9 . w5 w1 . w5 w9 . =   ->   w5 w9 w1
//
// The word of rank k occurs floor(length k^-alpha / zeta(alpha)) times. Words get their ranks at random, except
// for the dot, which has rank 1, and the order of the text is random. Lengths at which two ranks of the answer, or
// its last rank and the next, have equal counts are refused.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::frequent_words {
namespace {

const TaskInfo kInfo{
    .name = "frequent_words",
    .family = "counting",
    .version = 2,
    .aspects = {Aspect::counting, Aspect::aggregation},
    .definition =
        "The model reads words whose frequency falls with a power of their rank. "
        "It answers the three most frequent words after the first, which is always the same token, in order.",
    .requirement = "The model has to compare how often words occur. Their positions do not matter.",
    .source = "Hsieh et al. 2024, arXiv:2404.06654; code NVIDIA/RULER",
    .published_name = "frequent words extraction (FWE)",
    .published =
        "RULER has the same counts with alpha=2, over 2000 words of six letters, to prompt large models; any "
        "order of the answer counts. Here the task is smaller, with 16 words. A word is one token, and the answer is in the "
        "order of frequency.",
    .length_unit = "words",
    .splits = {{"in_distribution", {}, "the trained lengths and exponent"},
               {"ood_length", {{"length", "1.63x..1.85x"}}, "longer, with the trained exponent"},
               {"ood_alpha", {{"alpha", "1.5"}}, "frequencies that fall more slowly"}},
    .shortcuts = {.token = 0.17, .neighbor = 0.27, .count = 0.26},
};

/// Returns Riemann's zeta function with an error below 1e-7, for alpha from 1.01 on: a partial sum, and the rest
/// by the Euler-Maclaurin formula.
double zeta(double alpha) {
  constexpr int kTerms = 1000;
  double sum = 0;
  for (int k = 1; k < kTerms; ++k) sum += std::pow(k, -alpha);
  return sum + std::pow(kTerms, 1 - alpha) / (alpha - 1) + std::pow(kTerms, -alpha) / 2;
}

struct Options {
  Integers length{64, 78};
  double alpha = 2;
  int answer = 3, symbols = 16;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 100000, "words, before counts are rounded down");
    o.number("alpha", alpha, 1.01, 10, "exponent of the frequencies");
    o.integer("answer", answer, 1, 100, "words in the answer");
    o.integer("symbols", symbols, 2, 10000, "words in addition to the dot");
  }
};

class FrequentWords final : public BasicTask<Options> {
 public:
  FrequentWords(const Options& options, Layout layout) : BasicTask(options, layout), zeta_(zeta(options.alpha)) {
    for (const int length : options.length.values()) {
      for (int rank = 2; rank < options.answer + 2; ++rank) {
        if (count(length, rank) > count(length, rank + 1)) continue;
        throw InputError(fmt::format(
            "task 'frequent_words': at length {} ranks {} and {} occur equally often, {} times; choose "
            "another length",
            length, rank, rank + 1, count(length, rank)));
      }
      if (count(length, options.symbols + 2) == 0) continue;
      throw InputError(fmt::format("task 'frequent_words': length {} needs more than {} symbols; raise them",
                                   length, options.symbols));
    }
  }

  int vocabulary() const override { return options_.symbols + 2; }
  double chance_level() const override { return 1.0 / options_.symbols; }
  std::string token_text(int token) const override {
    return token == dot() ? "." : token == dot() + 1 ? "=" : fmt::format("w{}", token);
  }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> words(options_.symbols), text(count(length, 1), dot());
    for (int n = 0; n < options_.symbols; ++n) words[n] = n;
    shuffle<int>(words, rng);
    for (int rank = 2; count(length, rank) > 0; ++rank)
      text.insert(text.end(), count(length, rank), words[rank - 2]);
    shuffle<int>(text, rng);
    return ask(layout_, std::move(text), dot() + 1, {words.begin(), words.begin() + options_.answer});
  }

 private:
  int dot() const { return options_.symbols; }
  int count(int length, int rank) const {
    return static_cast<int>(length * std::pow(rank, -options_.alpha) / zeta_);
  }

  double zeta_;
};

const RegisterTask<FrequentWords> registered{kInfo};

}  // namespace
}  // namespace posbench::frequent_words
