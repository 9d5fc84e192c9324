// Recalls the latest value of each key, some of which get a new value.
//
//   k2 v8 k4 v7 | k2 v9 | _ _ k4 _ k2 _        targets: v7 at the last k4, v9 at the last k2
//
// All pairs come first, then the updates of random keys, then the questions, drawn as in `mqar`. The distance is
// the number of tokens from the question back to the latest value.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/parts/key_value.h"
#include "tasks/registry.h"

namespace posbench::forgetting_mqar {
namespace {

const TaskInfo kInfo{
    .name = "forgetting_mqar",
    .family = "associative_recall",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads key-value pairs, then some of the keys with new values, then each key once more among "
        "zeros, and answers its last value there.",
    .requirement =
        "Attention has to find by content the last place where a key occurred, not the first, and then read the "
        "token after it.",
    .source =
        "code HazyResearch/zoology, data/forgetting_mqar.py; after Arora, Eyuboglu et al. 2023, arXiv:2312.04927",
    .published_name = "forgetting MQAR",
    .published =
        "The code has 8 pairs and 4 updates, random ids between the questions, and may draw the old value "
        "again. Here there are half as many pairs and updates, zeros are between the questions, and a new value "
        "always differs from the old one. The splits are ours.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained length and numbers"},
               {"ood_updates", {{"updates", "1x(pairs)"}}, "every key gets another value"},
               {"ood_pairs", {{"pairs", "2x"}, {"updates", "2x"}}, "twice the pairs, at the trained length"},
               {"ood_length", {{"length", "4x"}}, "the trained pairs, with longer gaps"}},
    .far = TaskInfo::Far{{{"power", "1"}}},
};

struct Options {
  Integers length{64};
  int pairs = 4, updates = 2, vocabulary = 64;
  double power = 0.01;
  void describe(OptionTable& o) {
    o.integers("length", length, 4, 100000, "tokens; even");
    o.integer("pairs", pairs, 1, 10000, "keys, each queried once");
    o.integer("updates", updates, 0, 10000, "keys that get another value");
    o.integer("vocabulary", vocabulary, 6, 100000, "ids: 0, then keys, and values from the middle on");
    describe_power(o, power);
  }
};

class ForgettingMqar final : public BasicTask<Options> {
 public:
  ForgettingMqar(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.updates > options.pairs) {
      throw InputError(fmt::format("task 'forgetting_mqar': updates {} is more than pairs {}; lower it",
                                   options.updates, options.pairs));
    }
    const int needed = 4 * options.pairs + 2 * options.updates;
    if (needed > options.length.min()) {
      throw InputError(fmt::format(
          "task 'forgetting_mqar': pairs {} and updates {} need a length of {} at least, not {}; raise length",
          options.pairs, options.updates, needed, options.length.min()));
    }
    require_even_lengths("forgetting_mqar", options.length);
    if (options.pairs > ids_.keys()) {
      throw InputError(fmt::format(
          "task 'forgetting_mqar': pairs {} needs more keys than the {} of vocabulary {}; raise vocabulary",
          options.pairs, ids_.keys(), options.vocabulary));
    }
  }

  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / ids_.values(); }
  std::string token_text(int token) const override { return ids_.text(token); }

  Example sample(int length, Rng& rng) const override {
    const int pairs = options_.pairs, context = 2 * (pairs + options_.updates), first_value = ids_.first_value();
    const std::vector<int> key = distinct_ids(rng, 1, ids_.keys(), pairs);
    std::vector<int> value = distinct_ids(rng, first_value, ids_.values(), pairs), value_position(pairs);
    Example example;
    for (int m = 0; m < pairs; ++m) {
      example.tokens.insert(example.tokens.end(), {key[m], value[m]});
      value_position[m] = 2 * m + 1;
    }
    for (const int m : distinct_ids(rng, 0, pairs, options_.updates)) {
      value[m] = first_value + (value[m] - first_value + uniform(rng, 1, ids_.values() - 1)) % ids_.values();
      value_position[m] = static_cast<int>(example.tokens.size()) + 1;
      example.tokens.insert(example.tokens.end(), {key[m], value[m]});
    }
    example.tokens.resize(length, 0);
    example.targets.assign(length, kIgnore);
    std::vector<int> answer_position(length, 0);
    const std::vector<int> gap = power_law_gaps(rng, (length - context) / 2, pairs, options_.power);
    for (int m = 0; m < pairs; ++m) {
      const int query = context + 2 * gap[m];
      example.tokens[query] = key[m];
      example.targets[query] = value[m];
      answer_position[query] = value_position[m];
    }
    score_targets(example, answer_position, 2);
    return example;
  }

 private:
  KeyValueIds ids_{.vocabulary = options_.vocabulary, .filler = 1};
};

const RegisterTask<ForgettingMqar> registered{kInfo};

}  // namespace
}  // namespace posbench::forgetting_mqar
