// Recalls the values of keys that occur again.
//
//   k3 v9 k0 v12 k3 v9 k5 v8 k0 v12        targets: v9 at the second k3, v12 at the second k0
//
// recall() draws the pairs. The last key is always one that occurred before.
#include <string>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/parts/key_value.h"
#include "tasks/registry.h"

namespace posbench::mad_in_context_recall {
namespace {

const TaskInfo kInfo{
    .name = "mad_in_context_recall",
    .family = "associative_recall",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads key-value pairs whose keys occur again and keep their values, and answers the value of "
        "every key seen before.",
    .requirement =
        "Attention has to find the earlier occurrence of a key by content, and read the token after it.",
    .source = "Poli et al. 2024, arXiv:2403.17844; code athms/mad-lab",
    .published_name = "in-context recall",
    .published =
        "The paper trains and tests on 64 pairs, which are 128 tokens, of 16 ids, half of them keys. "
        "It trains on every next token. Here there are half as many pairs, and the splits are ours.",
    .length_unit = "pairs",
    .distance_unit = "tokens",
    .causal_only = true,
    .splits = {{"in_distribution", {}, "the trained length"},
               {"ood_length2", {{"length", "2x"}}, "twice the trained length"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained length"}},
    .shortcuts = {.token = 0.25, .neighbor = 0.24, .count = 0.19},
};

struct Options {
  Integers length{32};
  int vocabulary = 16;
  Loss loss = Loss::noisy;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, 100000, "pairs; each is two tokens");
    o.integer("vocabulary", vocabulary, 4, 100000, "ids: keys, and values from the middle on");
    describe_loss(o, loss, "the values that can be known");
  }
};

class MadInContextRecall final : public BasicTask<Options> {
 public:
  using BasicTask::BasicTask;
  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / ids_.values(); }
  std::string token_text(int token) const override { return ids_.text(token); }
  Example sample(int length, Rng& rng) const override { return recall(length, ids_, {}, options_.loss, rng); }

 private:
  KeyValueIds ids_{.vocabulary = options_.vocabulary};
};

const RegisterTask<MadInContextRecall> registered{kInfo};

}  // namespace
}  // namespace posbench::mad_in_context_recall
