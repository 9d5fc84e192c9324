// Recalls the value of each key.
//
//   k2 v8 k4 v7 _ _ k4 _ _ _ k2 _        targets: v7 at the second k4, v8 at the second k2
//
// Keys and values are distinct. Each question is at the start of a gap of two tokens, which power_law_gaps()
// draws, and answers are never inserted, so that causal and bidirectional models read the same tokens. The
// distance is the number of tokens from the second key back to the value.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/parts/key_value.h"
#include "tasks/registry.h"

namespace posbench::mqar {
namespace {

const TaskInfo kInfo{
    .name = "mqar",
    .family = "associative_recall",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads key-value pairs, then each key once more among filler, and answers its value there.",
    .requirement =
        "Attention has to find the earlier occurrence of a key by content, and read the token after it.",
    .source = "Arora, Eyuboglu et al. 2023, arXiv:2312.04927, Figure 2; code HazyResearch/zoology",
    .published_name = "multi-query associative recall (MQAR)",
    .published =
        "The paper has a vocabulary of 8192 and length/pairs 64/4, 128/8, 256/16 and 512/64, and trains and "
        "tests at one length. The filler is 0, or random ids on request. "
        "Later experiments of the code train on several data sets at once, from 64/4 to 256/64 (Arora et al. 2024, "
        "arXiv:2402.18668); with pairs=4..64 each sequence draws its number. "
        "Here the default is the first size with a smaller vocabulary, and the splits are ours.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained length and number of pairs"},
               {"ood_pairs", {{"pairs", "2x"}}, "twice the pairs, at the trained length"},
               {"ood_length", {{"length", "4x"}}, "the trained pairs, with longer gaps"},
               {"ood_length_pairs", {{"length", "4x"}, {"pairs", "4x"}}, "longer, with pairs to match"}},
    .far = TaskInfo::Far{{{"power", "1"}}},
};

enum class Filler { zero, random };
struct Options {
  Integers length{64};
  Integers pairs{4};
  int vocabulary = 64;
  double power = 0.01;
  Filler filler = Filler::zero;
  void describe(OptionTable& o) {
    o.integers("length", length, 4, 100000, "tokens; even");
    o.integers("pairs", pairs, 1, 10000, "pairs, each queried once");
    o.integer("vocabulary", vocabulary, 4, 100000, "ids: filler 0, then keys, and values from the middle on");
    describe_power(o, power);
    o.choice("filler", filler, {"zero", "random"}, "the tokens between the questions: 0, or uniform ids");
  }
};

class Mqar final : public BasicTask<Options> {
 public:
  Mqar(const Options& options, Layout layout) : BasicTask(options, layout) {
    const int pairs = options.pairs.max();
    if (4 * pairs > options.length.min()) {
      throw InputError(
          fmt::format("task 'mqar': pairs {} needs a length of {} at least, not {}; lower it or raise length",
                      pairs, 4 * pairs, options.length.min()));
    }
    require_even_lengths("mqar", options.length);
    if (pairs > ids_.keys()) {
      throw InputError(fmt::format(
          "task 'mqar': pairs {} needs more keys than the {} of vocabulary {}; lower it or raise vocabulary",
          pairs, ids_.keys(), options.vocabulary));
    }
  }

  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / ids_.values(); }
  std::string token_text(int token) const override { return ids_.text(token); }

  Example sample(int length, Rng& rng) const override {
    const int pairs = draw_if_several(options_.pairs, rng);
    const std::vector<int> key = distinct_ids(rng, 1, ids_.keys(), pairs);
    const std::vector<int> value = distinct_ids(rng, ids_.first_value(), ids_.values(), pairs);
    const std::vector<int> gap = power_law_gaps(rng, (length - 2 * pairs) / 2, pairs, options_.power);
    Example example;
    example.tokens.assign(length, 0);
    example.targets.assign(length, kIgnore);
    std::vector<int> answer_position(length, 0);
    for (int m = 0; m < pairs; ++m) {
      const int query = 2 * pairs + 2 * gap[m];
      example.tokens[2 * m] = example.tokens[query] = key[m];
      example.tokens[2 * m + 1] = example.targets[query] = value[m];
      answer_position[query] = 2 * m + 1;
    }
    if (options_.filler == Filler::random) {
      for (int& token : example.tokens) {
        if (token == 0) token = uniform(rng, 0, options_.vocabulary - 1);
      }
    }
    score_targets(example, answer_position, 2);
    return example;
  }

 private:
  KeyValueIds ids_{.vocabulary = options_.vocabulary, .filler = 1};
};

const RegisterTask<Mqar> registered{kInfo};

}  // namespace
}  // namespace posbench::mqar
