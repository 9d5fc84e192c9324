// Forgetting associative recall: some keys get a new value; the answer for each key is its latest value.
//
//   k2 v8 k4 v7 | k2 v9 | _ _ k4 _ k2 _        targets: v7 at the last k4, v9 at the last k2
//
// All pairs come first, then `updates` of their keys with a new value, then the questions: gaps, keys and values
// are as in `mqar`, the rest is zeros. The distance is the number of tokens from the question back to the latest
// value; the old value of an updated key is further back.
//
// Code HazyResearch/zoology, data/forgetting_mqar.py: 8 pairs and 4 updates.
#include <stdexcept>

#include "tasks/parts/power_law.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class ForgettingMqar final : public Task {
 public:
  struct Options {
    Integers length{64};
    int pairs = 4, updates = 2, vocabulary = 64;
    double power = 0.01;
    void describe(OptionTable& o) {
      o.integers("length", length, 4, 100000, "tokens; even");
      o.integer("pairs", pairs, 1, 10000, "keys, each queried once");
      o.integer("updates", updates, 0, 10000, "keys that get another value");
      o.integer("vocabulary", vocabulary, 6, 100000, "ids: 0, then keys, and values from the middle on");
      o.number("power", power, 0, 10, "gap number j is drawn with probability proportional to j^(power - 1)");
    }
  };

  ForgettingMqar(const Options& options, Layout) : options_(options) {
    if (options.updates > options.pairs) {
      throw std::invalid_argument(fmt::format("task 'forgetting_mqar': updates {} is more than pairs {}; lower it",
                                              options.updates, options.pairs));
    }
    const int needed = 4 * options.pairs + 2 * options.updates;
    if (needed > options.length.min()) {
      throw std::invalid_argument(fmt::format(
          "task 'forgetting_mqar': pairs {} and updates {} need a length of {} at least, not {}; raise length",
          options.pairs, options.updates, needed, options.length.min()));
    }
    for (const int length : options.length.values()) {
      if (length % 2 == 0) continue;
      throw std::invalid_argument(
          fmt::format("task 'forgetting_mqar': length {} is odd; keys and values need an even one", length));
    }
    if (options.pairs > keys()) {
      throw std::invalid_argument(fmt::format(
          "task 'forgetting_mqar': pairs {} needs more keys than the {} of vocabulary {}; raise vocabulary",
          options.pairs, keys(), options.vocabulary));
    }
  }

  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / values(); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    return token == 0 ? "_" : fmt::format("{}{}", token < first_value() ? 'k' : 'v', token);
  }

  Example sample(int length, Rng& rng) const override {
    const int pairs = options_.pairs, context = 2 * (pairs + options_.updates);
    const std::vector<int> key = distinct_ids(rng, 1, keys(), pairs);
    std::vector<int> value = distinct_ids(rng, first_value(), values(), pairs), value_position(pairs);
    Example example;
    for (int m = 0; m < pairs; ++m) {
      example.tokens.insert(example.tokens.end(), {key[m], value[m]});
      value_position[m] = 2 * m + 1;
    }
    for (const int m : distinct_ids(rng, 0, pairs, options_.updates)) {
      value[m] = first_value() + (value[m] - first_value() + uniform(rng, 1, values() - 1)) % values();
      value_position[m] = static_cast<int>(example.tokens.size()) + 1;
      example.tokens.insert(example.tokens.end(), {key[m], value[m]});
    }
    example.tokens.resize(length, 0);
    example.targets.assign(length, kIgnore);
    std::vector<int> distance(length, 0);
    const std::vector<int> gap = power_law_gaps(rng, (length - context) / 2, pairs, options_.power);
    for (int m = 0; m < pairs; ++m) {
      const int query = context + 2 * gap[m];
      example.tokens[query] = key[m];
      example.targets[query] = value[m];
      distance[query] = query - value_position[m];
    }
    for (int t = 0; t < length; ++t) {
      example.segments.push_back(t / 2);
      if (example.targets[t] == kIgnore) continue;
      example.scored.push_back(t);
      example.distances.push_back(distance[t]);
    }
    return example;
  }

 private:
  int first_value() const { return options_.vocabulary / 2; }
  int keys() const { return first_value() - 1; }
  int values() const { return options_.vocabulary - first_value(); }

  Options options_;
};

const RegisterTask<ForgettingMqar> registered{{
    .name = "forgetting_mqar",
    .family = "associative recall",
    .definition = "Reads key-value pairs, then some of the keys with new values, then each key once more among "
                  "zeros, and answers its last value there.",
    .takes = "Attention has to find by content the last place where a key occurred, not the first, and then "
             "read the token after it.",
    .source = "code HazyResearch/zoology, data/forgetting_mqar.py; after Arora, Eyuboglu et al. 2023, "
              "arXiv:2312.04927",
    .published_name = "forgetting MQAR",
    .published = "8 pairs and 4 updates, with random ids between the questions; ours are half as many, with "
                 "zeros. The code may draw the old value again; ours is always a different one. The splits are ours.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained length and numbers"},
               {"ood_updates", {{"updates", "1x(pairs)"}}, "every key gets another value"},
               {"ood_pairs", {{"pairs", "2x"}, {"updates", "2x"}}, "twice the pairs, at the trained length"},
               {"ood_length", {{"length", "4x"}}, "the trained pairs, with longer gaps"}},
}};

}  // namespace
}  // namespace posbench
