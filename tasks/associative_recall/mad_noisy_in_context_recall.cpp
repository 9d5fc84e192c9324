// Recalls the values of keys that occur again, among pairs of noise.
//
//   k3 v9 n20 n17 k0 v12 k3 v9 n31 n16 k0 v12        targets: v9 at the second k3, v12 at the second k0
//
// recall() draws the pairs and replaces some of them by noise.
#include <string>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/parts/key_value.h"
#include "tasks/registry.h"

namespace posbench::mad_noisy_in_context_recall {
namespace {

const TaskInfo kInfo{
    .name = "mad_noisy_in_context_recall",
    .family = "associative_recall",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads key-value pairs whose keys occur again, with noise between the pairs, and answers the "
        "value of every key seen before.",
    .requirement =
        "Attention has to find the earlier occurrence of a key by content, among noise, and read the token "
        "after it.",
    .source = "Poli et al. 2024, arXiv:2403.17844; code athms/mad-lab",
    .published_name = "noisy in-context recall",
    .published =
        "The paper trains and tests on 64 pairs, which are 128 tokens, of 16 ids of keys and values and 16 ids "
        "of noise. The probability of noise is 0.2, and 0.4, 0.6 and 0.8 in harder variants. "
        "Here there are half as many pairs, the pair that is never noise is not the last, and the splits are "
        "ours.",
    .length_unit = "pairs",
    .distance_unit = "tokens",
    .causal_only = true,
    .splits = {{"in_distribution", {}, "the trained length and noise"},
               {"ood_clean", {{"noise", "0"}}, "no noise, at the trained length"},
               {"ood_noise", {{"noise", "0.8"}}, "four times the noise, at the trained length"},
               {"ood_length2", {{"length", "2x"}}, "twice the trained length, with the trained noise"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained length, with the trained noise"}},
    .shortcuts = {.token = 0.25, .neighbor = 0.3, .count = 0.28},
};

struct Options {
  Integers length{32};
  double noise = 0.2;
  int vocabulary = 16, noise_vocabulary = 16;
  Loss loss = Loss::noisy;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, 100000, "pairs; each is two tokens");
    o.number("noise", noise, 0, 1, "probability that a pair is noise");
    o.integer("vocabulary", vocabulary, 4, 100000, "ids: keys, and values from the middle on");
    o.integer("noise_vocabulary", noise_vocabulary, 1, 100000, "further ids, of noise");
    describe_loss(o, loss, "the values that can be known");
  }
};

class MadNoisyInContextRecall final : public BasicTask<Options> {
 public:
  using BasicTask::BasicTask;
  int vocabulary() const override { return options_.vocabulary + options_.noise_vocabulary; }
  double chance_level() const override { return 1.0 / ids_.values(); }
  std::string token_text(int token) const override { return ids_.text(token); }
  Example sample(int length, Rng& rng) const override {
    return recall(length, ids_, {options_.noise, options_.noise_vocabulary}, options_.loss, rng);
  }

 private:
  KeyValueIds ids_{.vocabulary = options_.vocabulary};
};

const RegisterTask<MadNoisyInContextRecall> registered{kInfo};

}  // namespace
}  // namespace posbench::mad_noisy_in_context_recall
