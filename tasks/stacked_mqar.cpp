// Stacked associative recall: each pair of a key and a value is one token, and so is each question.
//
//   k3:v5 k0:v2 k7:v4 k0? k7? k3?        targets: v2, v4 and v5 at the questions
//
// Pairs differ in key and value and are given in `passes`, each in another order; then every key is queried once,
// in yet another order. Neither the order of tokens nor their adjacency matters, in contrast to `mqar`. The
// distance is the number of tokens back to the pair in the last pass.
//
// Code HazyResearch/zoology, data/stacked_mqar.py, where a token concatenates the embeddings of key and value,
// with zeros as the value of a question. Passes after Arora et al. 2024, arXiv:2407.05483.
#include <numeric>
#include <stdexcept>

#include "tasks/registry.h"

namespace posbench {
namespace {

class StackedMqar final : public Task {
 public:
  struct Options {
    Integers length{8};
    int passes = 1, keys = 16;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 1000, "pairs");
      o.integer("passes", passes, 1, 100, "how often each pair is read");
      o.integer("keys", keys, 2, 1000, "different keys, and as many values");
    }
  };

  StackedMqar(const Options& options, Layout) : options_(options) {
    if (options.length.max() > options.keys) {
      throw std::invalid_argument(
          fmt::format("task 'stacked_mqar': length {} needs as many keys, not {}; raise keys or lower length",
                      options.length.max(), options.keys));
    }
  }

  int vocabulary() const override { return first_value() + options_.keys; }
  double chance_level() const override { return 1.0 / options_.keys; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    if (token < first_query()) return fmt::format("k{}:v{}", token / options_.keys, token % options_.keys);
    return token < first_value() ? fmt::format("k{}?", token - first_query())
                                 : fmt::format("v{}", token - first_value());
  }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> key = draw(length, rng), value = draw(length, rng);
    std::vector<int> order(length), last(length);
    std::iota(order.begin(), order.end(), 0);
    Example example;
    for (int pass = 0; pass < options_.passes; ++pass) {
      shuffle<int>(order, rng);
      for (const int m : order) {
        last[m] = static_cast<int>(example.tokens.size());
        example.tokens.push_back(key[m] * options_.keys + value[m]);
        example.targets.push_back(kIgnore);
      }
    }
    shuffle<int>(order, rng);
    for (const int m : order) {
      const int position = static_cast<int>(example.tokens.size());
      example.tokens.push_back(first_query() + key[m]);
      example.targets.push_back(first_value() + value[m]);
      example.scored.push_back(position);
      example.distances.push_back(position - last[m]);
    }
    example.segments.resize(example.tokens.size());
    std::iota(example.segments.begin(), example.segments.end(), 0);
    return example;
  }

 private:
  int first_query() const { return options_.keys * options_.keys; }
  int first_value() const { return first_query() + options_.keys; }

  /// All different, in random order.
  std::vector<int> draw(int count, Rng& rng) const {
    std::vector<int> ids = distinct(rng, options_.keys, count);
    shuffle<int>(ids, rng);
    return ids;
  }

  Options options_;
};

const RegisterTask<StackedMqar> registered{{
    .name = "stacked_mqar",
    .family = "associative recall",
    .definition = "Reads pairs of a key and a value, one token each, then every key once more, and answers its "
                  "value there.",
    .takes = "Attention has to find the earlier occurrence of a key by content, and read the token after it.",
    .source = "code HazyResearch/zoology, data/stacked_mqar.py; after Arora, Eyuboglu et al. 2023, "
              "arXiv:2312.04927",
    .published_name = "continuous (stacked) MQAR",
    .published = "8 pairs and one pass, as here. There a token is the embeddings of its key and its value side by "
                 "side and the answer an embedding; ours has an id for each pair, so that keys and values must be "
                 "learned from it. The splits are ours.",
    .length_unit = "pairs",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained number of pairs"},
               {"ood_pairs", {{"length", "2x"}}, "twice the pairs"},
               {"ood_passes", {{"passes", "2"}}, "each pair read twice"}},
}};

}  // namespace
}  // namespace posbench
