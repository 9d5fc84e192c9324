// Multi-query associative recall: key-value pairs, then each key once more as a query for its value.
//
//   k2 v8 k4 v7 _ _ k4 _ _ _ k2 _        targets: v7 at the second k4, v8 at the second k2
//
// Keys and values are drawn without repetition. The pairs are followed by (length - 2 pairs) / 2 gaps of two
// tokens. Each key is at the start of a different gap; gap j = 1, 2, ... is drawn without repetition with
// probability proportional to j^(power - 1): short distances are favoured, power=1 makes all equally likely.
// Values are targets at the second keys and never inserted, so causal and bidirectional models read the same
// tokens. The distance is the number of tokens from the second key back to the value.
//
// Arora, Eyuboglu et al. 2023, arXiv:2312.04927; code HazyResearch/zoology: vocabulary 8192, length/pairs 64/4,
// 128/8, 256/16 and 512/64; requires 4 pairs <= length. Filler is 0 there too, or random ids on request.
#include <algorithm>
#include <stdexcept>

#include "tasks/parts/power_law.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class Mqar final : public Task {
 public:
  enum class Filler { zero, random };
  struct Options {
    Integers length{64};
    int pairs = 4;
    int vocabulary = 64;
    double power = 0.01;
    Filler filler = Filler::zero;
    void describe(OptionTable& o) {
      o.integers("length", length, 4, 100000, "tokens; even");
      o.integer("pairs", pairs, 1, 10000, "pairs, each queried once");
      o.integer("vocabulary", vocabulary, 4, 100000, "ids: filler 0, then keys, and values from the middle on");
      o.number("power", power, 0, 10, "gap number j is drawn with probability proportional to j^(power - 1)");
      o.choice("filler", filler, {"zero", "random"}, "the tokens between the questions: 0, or uniform ids");
    }
  };

  Mqar(const Options& options, Layout) : options_(options) {
    if (4 * options.pairs > options.length.min()) {
      throw std::invalid_argument(
          fmt::format("task 'mqar': pairs {} needs a length of {} at least, not {}; lower it or raise length",
                      options.pairs, 4 * options.pairs, options.length.min()));
    }
    for (const int length : options.length.values()) {
      if (length % 2 == 0) continue;
      throw std::invalid_argument(
          fmt::format("task 'mqar': length {} is odd; keys and values need an even one", length));
    }
    if (options.pairs > keys()) {
      throw std::invalid_argument(fmt::format(
          "task 'mqar': pairs {} needs more keys than the {} of vocabulary {}; lower it or raise vocabulary",
          options.pairs, keys(), options.vocabulary));
    }
  }

  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / (options_.vocabulary - first_value()); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    return token == 0 ? "_" : fmt::format("{}{}", token < first_value() ? 'k' : 'v', token);
  }

  Example sample(int length, Rng& rng) const override {
    const int pairs = options_.pairs;
    const std::vector<int> key = distinct_ids(rng, 1, keys(), pairs);
    const std::vector<int> value = distinct_ids(rng, first_value(), options_.vocabulary - first_value(), pairs);
    const std::vector<int> gap = power_law_gaps(rng, (length - 2 * pairs) / 2, pairs, options_.power);
    Example example;
    example.tokens.assign(length, 0);
    example.targets.assign(length, kIgnore);
    for (int m = 0; m < pairs; ++m) {
      const int query = 2 * pairs + 2 * gap[m];
      example.tokens[2 * m] = example.tokens[query] = key[m];
      example.tokens[2 * m + 1] = example.targets[query] = value[m];
    }
    for (int t = 0; t < length; ++t) {
      if (options_.filler == Filler::random && example.tokens[t] == 0) {
        example.tokens[t] = uniform(rng, 0, options_.vocabulary - 1);
      }
      example.segments.push_back(t / 2);
      if (example.targets[t] == kIgnore) continue;
      const auto pair = std::find(key.begin(), key.end(), example.tokens[t]) - key.begin();
      example.scored.push_back(t);
      example.distances.push_back(t - (2 * static_cast<int>(pair) + 1));
    }
    return example;
  }

 private:
  int first_value() const { return options_.vocabulary / 2; }
  int keys() const { return first_value() - 1; }

  Options options_;
};

const RegisterTask<Mqar> registered{{
    .name = "mqar",
    .family = "associative recall",
    .definition = "Reads key-value pairs, then each key once more among filler, and answers its value there.",
    .takes = "Attention has to find the earlier occurrence of a key by content, and read the token after it.",
    .source = "Arora, Eyuboglu et al. 2023, arXiv:2312.04927, Figure 2; code HazyResearch/zoology",
    .published_name = "multi-query associative recall (MQAR)",
    .published =
        "Vocabulary 8192 with length/pairs 64/4, 128/8, 256/16, 512/64, trained and tested at one length. Our "
        "default is the first with a smaller vocabulary; the splits are ours.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained length and number of pairs"},
               {"ood_pairs", {{"pairs", "2x"}}, "twice the pairs, at the trained length"},
               {"ood_length", {{"length", "4x"}}, "the trained pairs, with longer gaps"},
               {"ood_length_pairs", {{"length", "4x"}, {"pairs", "4x"}}, "longer, with pairs to match"}},
}};

}  // namespace
}  // namespace posbench
