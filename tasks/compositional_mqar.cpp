// Compositional associative recall: a value for every pair of two keys, neither of which determines it alone.
//
//   a1 b5 v9  a2 b5 v8  a1 b6 v7  a2 b6 v10  _ _ _ a2 b6 _ a1 b5 _        targets: v10 at b6, v9 at b5
//
// There are `grid` first and `grid` second keys; all grid x grid pairs appear in random order with different
// values. Gaps of three tokens follow; each pair is at the start of a different gap, drawn as in `mqar`, and the
// rest is zeros. The distance is the number of tokens from the second key back to the value.
//
// Code HazyResearch/zoology, data/compositional_mqar.py: grid=2, at 30 tokens in its example.
#include <stdexcept>

#include "tasks/parts/power_law.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class CompositionalMqar final : public Task {
 public:
  struct Options {
    Integers length{54};
    int grid = 2, vocabulary = 96;
    double power = 0.01;
    void describe(OptionTable& o) {
      o.integers("length", length, 6, 100000, "tokens");
      o.integer("grid", grid, 1, 100, "the number of first keys, and of second keys; every pair of them is queried");
      o.integer("vocabulary", vocabulary, 9, 100000,
                "ids: 0, then a third first keys, second keys and values each");
      o.number("power", power, 0, 10, "gap number j is drawn with probability proportional to j^(power - 1)");
    }
  };

  CompositionalMqar(const Options& options, Layout) : options_(options) {
    if (6 * pairs() > options.length.min()) {
      throw std::invalid_argument(fmt::format(
          "task 'compositional_mqar': grid {} needs a length of {} at least, not {}; lower it or raise length",
          options.grid, 6 * pairs(), options.length.min()));
    }
    if (options.grid >= third() || pairs() > values()) {
      throw std::invalid_argument(fmt::format(
          "task 'compositional_mqar': grid {} needs more ids than vocabulary {} has; lower it or raise vocabulary",
          options.grid, options.vocabulary));
    }
  }

  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / values(); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    return token == 0 ? "_" : fmt::format("{}{}", token < third() ? 'a' : token < 2 * third() ? 'b' : 'v', token);
  }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> first = distinct_ids(rng, 1, third() - 1, options_.grid);
    const std::vector<int> second = distinct_ids(rng, third(), third(), options_.grid);
    const std::vector<int> value = distinct_ids(rng, 2 * third(), values(), pairs());
    const std::vector<int> order = distinct_ids(rng, 0, pairs(), pairs());
    const std::vector<int> gap = power_law_gaps(rng, length / 3 - pairs(), pairs(), options_.power);
    Example example;
    example.tokens.assign(length, 0);
    example.targets.assign(length, kIgnore);
    std::vector<int> distance(length, 0);
    for (int m = 0; m < pairs(); ++m) {
      const int position = 3 * m, query = 3 * (pairs() + gap[m]);
      example.tokens[position] = example.tokens[query] = first[order[m] / options_.grid];
      example.tokens[position + 1] = example.tokens[query + 1] = second[order[m] % options_.grid];
      example.tokens[position + 2] = example.targets[query + 1] = value[m];
      distance[query + 1] = query - 1 - position;
    }
    for (int t = 0; t < length; ++t) {
      example.segments.push_back(t / 3);
      if (example.targets[t] == kIgnore) continue;
      example.scored.push_back(t);
      example.distances.push_back(distance[t]);
    }
    return example;
  }

 private:
  int pairs() const { return options_.grid * options_.grid; }
  int third() const { return options_.vocabulary / 3; }
  int values() const { return options_.vocabulary - 2 * third(); }

  Options options_;
};

const RegisterTask<CompositionalMqar> registered{{
    .name = "compositional_mqar",
    .family = "associative recall",
    .definition = "Reads a value for every pair of a first and a second key, then each pair once more among "
                  "zeros, and answers its value there.",
    .takes = "Attention has to find by content the place where both keys occurred together, and then read the "
             "token after it.",
    .source = "code HazyResearch/zoology, data/compositional_mqar.py; after Arora, Eyuboglu et al. 2023, "
              "arXiv:2312.04927",
    .published_name = "compositional MQAR",
    .published = "A grid of 2 by 2 by default, with random ids between the questions; ours has zeros, and a "
                 "smaller vocabulary. The splits are ours.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained length and grid"},
               {"ood_grid", {{"grid", "3"}}, "a grid of 3 by 3, at the trained length"},
               {"ood_length", {{"length", "4x"}}, "the trained grid, with longer gaps"}},
}};

}  // namespace
}  // namespace posbench
