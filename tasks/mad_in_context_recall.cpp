// In-context recall of MAD: key-value pairs with repeated keys, which keep their values.
//
//   k3 v9 k0 v12 k3 v9 k5 v8 k0 v12        targets: v9 at the second k3, v12 at the second k0
//
// Every value of a key seen before is scored; the last key is always one of these. As published, training predicts
// every next token.
//
// Poli et al. 2024, arXiv:2403.17844; code athms/mad-lab: 16 ids, half of them keys, and 128 tokens.
#include "tasks/parts/mad_recall.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class MadInContextRecall final : public Task {
 public:
  struct Options {
    Integers length{32};
    int vocabulary = 16;
    Loss loss = Loss::noisy;
    void describe(OptionTable& o) {
      o.integers("length", length, 2, 100000, "pairs; each is two tokens");
      o.integer("vocabulary", vocabulary, 4, 100000, "ids: keys, and values from the middle on");
      o.choice("loss", loss, {"clean", "noisy"}, "train on the values that can be known, or on every next token");
    }
  };

  MadInContextRecall(const Options& options, Layout) : options_(options) {}

  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / (options_.vocabulary - keys()); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return fmt::format("{}{}", token < keys() ? 'k' : 'v', token); }
  Example sample(int length, Rng& rng) const override {
    return recall(length, {keys(), options_.vocabulary - keys(), 0}, 0, options_.loss, rng);
  }

 private:
  int keys() const { return options_.vocabulary / 2; }

  Options options_;
};

const RegisterTask<MadInContextRecall> registered{{
    .name = "mad_in_context_recall",
    .family = "associative recall",
    .definition = "Reads key-value pairs whose keys come again, and answers the value of every key seen before.",
    .takes = "Attention has to find the earlier occurrence of a key by content, and read the token after it.",
    .source = "Poli et al. 2024, arXiv:2403.17844; code athms/mad-lab",
    .published_name = "in-context recall",
    .published =
        "64 pairs, which are 128 tokens, trained and tested alike; our default has half, and the splits are ours.",
    .length_unit = "pairs",
    .distance_unit = "tokens",
    .causal_only = true,
    .splits = {{"in_distribution", {}, "the trained length"},
               {"ood_length2", {{"length", "2x"}}, "twice the trained length"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained length"}},
}};

}  // namespace
}  // namespace posbench
