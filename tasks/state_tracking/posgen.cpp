// Continues a sequence of modular sums that is equally hard to continue at every position.
//
//   2 0 3 1 | 6 3 6 2 3 0 4 2        form=recurrent:      far token x[l - 4]             (modulus 7)
//   2 0 3 1 | 6 5 0 6 6 0 0 1        form=cot:            far token x[0]
//   2 0 3 1 | 6 5 5 2 1 4 1 0        form=semirecurrent:  far token x[(l - 4) / 2], rounded down
//
// Token l is the sum modulo `modulus` of the `near` tokens before it and of `far` tokens from the far token on;
// the first near + far tokens are uniform. Splits of longer sequences score the positions unseen in training, from
// `scored_from` on. The distance reaches back to the first of the far tokens: it is constant for `recurrent`, the
// whole sequence for `cot` (chain of thought), half of it for `semirecurrent`.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::posgen {
namespace {

const TaskInfo kInfo{
    .name = "posgen",
    .family = "state_tracking",
    .version = 2,
    .aspects = {Aspect::order},
    .definition =
        "The model reads a few uniform tokens and continues them. "
        "Each token is the modular sum of those just before it and of one far back: the token before those, the "
        "first token, or the token half way back.",
    .requirement =
        "Attention has to reach a few tokens at fixed distances, and one far back: at a fixed distance, at the "
        "start, or at half of its own position.",
    .source = "Wang et al. 2024, arXiv:2403.00071, section 5; code sheryc/resonance_rope",
    .published_name = "PosGen: recursive, chain-of-thought (CoT) and semi-recursive",
    .published =
        "The paper has near=3, far=1 and modulus=17, trains on 64 tokens (length=64) and publishes the accuracy on the "
        "unseen positions of 256 (OOD accuracy). There the 13 000 beginnings are sets in ascending order, the "
        "sequence starts with a begin token, and testing is autoregressive. "
        "Here beginnings are uniform, without a begin token, and testing is teacher forced.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .causal_only = true,
    .splits = {{"in_distribution", {}, "the trained length"},
               {"ood_length2",
                {{"length", "2x"}, {"scored_from", "1x(length)"}},
                "the positions beyond the trained length, up to twice as far"},
               {"ood_length4",
                {{"length", "4x"}, {"scored_from", "1x(length)"}},
                "the positions beyond the trained length, up to four times as far"}},
    // Modulo 5, token t + 78 is a fixed multiple of token t, and so predicts it in ood_length4. Training sequences
    // have 32 tokens and do not show it.
    .shortcuts = {.token = 1, .neighbor = 0.25, .count = 0.25},
};

enum class Form { recurrent, cot, semirecurrent };
struct Options {
  Integers length{32};
  Form form = Form::recurrent;
  int modulus = 5, near = 3, far = 1, scored_from = 0;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, 100000, "tokens, including the drawn ones");
    o.choice("form", form, {"recurrent", "cot", "semirecurrent"}, "the position of the far tokens");
    o.integer("modulus", modulus, 2, 1000, "different tokens");
    o.integer("near", near, 1, 100, "tokens just before that are summed");
    o.integer("far", far, 1, 100, "far tokens that are summed");
    o.integer("scored_from", scored_from, 0, 100000, "first position that is scored");
  }
};

class PosGen final : public BasicTask<Options> {
 public:
  PosGen(const Options& options, Layout layout) : BasicTask(options, layout) {
    const int unscored = std::max(drawn(), options.scored_from);
    if (options.length.min() <= unscored) {
      throw InputError(fmt::format(
          "task 'posgen': length {} scores nothing, since the first {} positions are not scored; raise it",
          options.length.min(), unscored));
    }
  }

  int vocabulary() const override { return options_.modulus; }
  double chance_level() const override { return 1.0 / options_.modulus; }
  std::string token_text(int token) const override { return std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> sequence = uniform_tokens(rng, drawn(), 0, options_.modulus - 1), scored, distances;
    for (int l = drawn(); l < length; ++l) {
      const auto far = sequence.begin() + far_position(l);
      const int sum = std::accumulate(far, far + options_.far, 0);
      sequence.push_back(std::accumulate(sequence.end() - options_.near, sequence.end(), sum) % options_.modulus);
      if (l < options_.scored_from) continue;
      scored.push_back(l - 1);
      distances.push_back(l - far_position(l));
    }
    Example example = predict_next(std::move(sequence), std::move(scored), Loss::clean);
    example.distances = std::move(distances);
    return example;
  }

 private:
  int drawn() const { return options_.near + options_.far; }
  int far_position(int l) const {
    switch (options_.form) {
      case Form::recurrent:
        return l - drawn();
      case Form::cot:
        return 0;
      case Form::semirecurrent:
        return (l - drawn()) / 2;
    }
    return 0;
  }
};

const RegisterTask<PosGen> registered{kInfo};

}  // namespace
}  // namespace posbench::posgen
