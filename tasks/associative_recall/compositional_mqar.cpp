// Recalls the value of each pair of two keys; neither key determines it alone.
//
//   a1 b5 v9  a2 b5 v8  a1 b6 v7  a2 b6 v10  _ _ _ a2 b6 _ a1 b5 _        targets: v10 at b6, v9 at b5
//
// The grid x grid pairs appear in random order with distinct values. Each question is at the start of a gap of
// three tokens, which power_law_gaps() draws. The distance is the number of tokens from the second key back to the
// value.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/parts/key_value.h"
#include "tasks/registry.h"

namespace posbench::compositional_mqar {
namespace {

const TaskInfo kInfo{
    .name = "compositional_mqar",
    .family = "associative_recall",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads a value for every pair of a first and a second key, then each pair once more among "
        "zeros, and answers its value there.",
    .requirement =
        "Attention has to find by content the place where both keys occurred together, and then read the token "
        "after it.",
    .source =
        "code HazyResearch/zoology, data/compositional_mqar.py; after Arora, Eyuboglu et al. 2023, "
        "arXiv:2312.04927",
    .published_name = "compositional MQAR",
    .published =
        "The code has a grid of 2 by 2 at 30 tokens in its example, and random ids between the questions. "
        "Here zeros are between the questions, and the vocabulary is smaller. "
        "The splits are ours.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained length and grid"},
               {"ood_grid", {{"grid", "3"}}, "a grid of 3 by 3, at the trained length"},
               {"ood_length", {{"length", "4x"}}, "the trained grid, with longer gaps"}},
    .far = TaskInfo::Far{{{"power", "1"}}},
};

struct Options {
  Integers length{54};
  int grid = 2, vocabulary = 96;
  double power = 0.01;
  void describe(OptionTable& o) {
    o.integers("length", length, 6, 100000, "tokens");
    o.integer("grid", grid, 1, 100, "the number of first keys, and of second keys; every pair of them is queried");
    o.integer("vocabulary", vocabulary, 9, 100000, "ids: 0, then a third first keys, second keys and values each");
    describe_power(o, power);
  }
};

class CompositionalMqar final : public BasicTask<Options> {
 public:
  CompositionalMqar(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (6 * pairs() > options.length.min()) {
      throw InputError(fmt::format(
          "task 'compositional_mqar': grid {} needs a length of {} at least, not {}; lower it or raise length",
          options.grid, 6 * pairs(), options.length.min()));
    }
    if (options.grid >= third() || pairs() > values()) {
      throw InputError(fmt::format(
          "task 'compositional_mqar': grid {} needs more ids than vocabulary {} has; lower it or raise vocabulary",
          options.grid, options.vocabulary));
    }
  }

  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / values(); }
  std::string token_text(int token) const override {
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
    std::vector<int> answer_position(length, 0);
    for (int m = 0; m < pairs(); ++m) {
      const int position = 3 * m, query = 3 * (pairs() + gap[m]);
      example.tokens[position] = example.tokens[query] = first[order[m] / options_.grid];
      example.tokens[position + 1] = example.tokens[query + 1] = second[order[m] % options_.grid];
      example.tokens[position + 2] = example.targets[query + 1] = value[m];
      answer_position[query + 1] = position + 2;
    }
    score_targets(example, answer_position, 3);
    return example;
  }

 private:
  int pairs() const { return options_.grid * options_.grid; }
  int third() const { return options_.vocabulary / 3; }
  int values() const { return options_.vocabulary - 2 * third(); }
};

const RegisterTask<CompositionalMqar> registered{kInfo};

}  // namespace
}  // namespace posbench::compositional_mqar
