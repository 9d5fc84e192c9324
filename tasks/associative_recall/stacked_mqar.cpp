// Recalls the value of each key, where a pair of a key and a value is one token.
//
//   k3:v5 k0:v2 k7:v4 k0? k7? k3?        targets: v2, v4 and v5 at the questions
//
// The pairs are read `passes` times, each time in another order, and the questions are in yet another order, so
// neither the order of tokens nor their adjacency matters. The distance is the number of tokens back to the pair
// in the last pass.
#include <fmt/format.h>

#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::stacked_mqar {
namespace {

const TaskInfo kInfo{
    .name = "stacked_mqar",
    .family = "associative_recall",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads pairs of a key and a value, one token each, then every key once more, and answers its "
        "value there.",
    .requirement =
        "Attention has to find the token that holds a key by content, and the model has to extract the value "
        "from it.",
    .source =
        "code HazyResearch/zoology, data/stacked_mqar.py; after Arora, Eyuboglu et al. 2023, arXiv:2312.04927",
    .published_name = "continuous (stacked) MQAR",
    .published =
        "The code has 8 pairs and one pass. In the code a token concatenates the embeddings of its key and its "
        "value, and the answer is an embedding. Here each pair has a separate id, so that the model must learn "
        "its key and its value. Several passes are after Arora et al. 2024, arXiv:2407.05483. "
        "The splits are ours.",
    .length_unit = "pairs",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained number of pairs"},
               {"ood_pairs", {{"length", "2x"}}, "twice the pairs"},
               {"ood_passes", {{"passes", "2"}}, "each pair read twice"}},
    .shortcuts = {.token = 0.08},
};

struct Options {
  Integers length{8};
  int passes = 1, keys = 16;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 1000, "pairs");
    o.integer("passes", passes, 1, 100, "number of times that each pair is read");
    o.integer("keys", keys, 2, 1000, "different keys, and as many values");
  }
};

class StackedMqar final : public BasicTask<Options> {
 public:
  StackedMqar(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.length.max() > options.keys) {
      throw InputError(
          fmt::format("task 'stacked_mqar': length {} needs as many keys, not {}; raise keys or lower length",
                      options.length.max(), options.keys));
    }
  }

  int vocabulary() const override { return first_value() + options_.keys; }
  double chance_level() const override { return 1.0 / options_.keys; }
  std::string token_text(int token) const override {
    if (token < first_query()) return fmt::format("k{}:v{}", token / options_.keys, token % options_.keys);
    return token < first_value() ? fmt::format("k{}?", token - first_query())
                                 : fmt::format("v{}", token - first_value());
  }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> key = distinct_ids(rng, 0, options_.keys, length);
    const std::vector<int> value = distinct_ids(rng, 0, options_.keys, length);
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
};

const RegisterTask<StackedMqar> registered{kInfo};

}  // namespace
}  // namespace posbench::stacked_mqar
