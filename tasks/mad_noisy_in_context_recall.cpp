// Noisy in-context recall of MAD: key-value pairs with repeated keys, and noise between the pairs.
//
//   k3 v9 n20 n17 k0 v12 k3 v9 n31 n16 k0 v12        targets: v9 at the second k3, v12 at the second k0
//
// As in-context recall, but each pair is replaced by two noise ids with probability `noise`, except one uniform
// pair and the last.
//
// Poli et al. 2024, arXiv:2403.17844; code athms/mad-lab: 16 ids of keys and values, 16 of noise, 128 tokens,
// noise 0.2, and 0.4, 0.6, 0.8 in the harder variants. Their exempt pair may be the last, which is never noise;
// ours is before it.
#include "tasks/parts/mad_recall.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class MadNoisyInContextRecall final : public Task {
 public:
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
      o.choice("loss", loss, {"clean", "noisy"}, "train on the values that can be known, or on every next token");
    }
  };

  MadNoisyInContextRecall(const Options& options, Layout) : options_(options) {}

  int vocabulary() const override { return options_.vocabulary + options_.noise_vocabulary; }
  double chance_level() const override { return 1.0 / (options_.vocabulary - keys()); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    return fmt::format("{}{}", token < keys() ? 'k' : token < options_.vocabulary ? 'v' : 'n', token);
  }
  Example sample(int length, Rng& rng) const override {
    return recall(length, {keys(), options_.vocabulary - keys(), options_.noise_vocabulary}, options_.noise,
                  options_.loss, rng);
  }

 private:
  int keys() const { return options_.vocabulary / 2; }

  Options options_;
};

const RegisterTask<MadNoisyInContextRecall> registered{{
    .name = "mad_noisy_in_context_recall",
    .family = "associative recall",
    .definition = "Reads key-value pairs whose keys come again, with noise between the pairs, and answers the "
                  "value of every key seen before.",
    .takes = "Attention has to find the earlier occurrence of a key by content, among noise, and read the "
             "token after it.",
    .source = "Poli et al. 2024, arXiv:2403.17844; code athms/mad-lab",
    .published_name = "noisy in-context recall",
    .published =
        "64 pairs, which are 128 tokens, trained and tested alike; our default has half, and the splits are ours.",
    .length_unit = "pairs",
    .distance_unit = "tokens",
    .causal_only = true,
    .splits = {{"in_distribution", {}, "the trained length and noise"},
               {"ood_clean", {{"noise", "0"}}, "no noise, at the trained length"},
               {"ood_noise", {{"noise", "0.8"}}, "four times the noise, at the trained length"},
               {"ood_length2", {{"length", "2x"}}, "twice the trained length, with the trained noise"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained length, with the trained noise"}},
}};

}  // namespace
}  // namespace posbench
