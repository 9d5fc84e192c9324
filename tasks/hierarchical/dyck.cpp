// Closes well-nested brackets of several types.
//
//   (1 (0 )0 (3 )3 )1 (2 )2 end
//
// A bracket opens with probability `opening` and otherwise closes, but always opens at depth 0 and always closes
// at depth `depth`. The type of an opening bracket is uniform, and the walk is conditioned on a return to depth 0
// after `length` pairs. The distance is the number of tokens from the target position back to the opening bracket.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::dyck {
namespace {

const TaskInfo kInfo{
    .name = "dyck",
    .family = "hierarchical",
    .aspects = {Aspect::hierarchy},
    .definition =
        "The model reads well-nested brackets of several types to a bounded depth, and answers the type of "
        "every closing bracket, chosen among the closing ones.",
    .requirement =
        "Attention has to find the nearest opening bracket of the same depth, at any distance, so the model has "
        "to count depth.",
    .source =
        "Yao et al. 2021, arXiv:2105.11115; Hewitt et al. 2020, arXiv:2010.07515; code "
        "princeton-nlp/dyck-transformer",
    .published_name = "Dyck-(k,D)",
    .published =
        "Yao et al. have 8 types to depth 10, train on up to 700 brackets "
        "(length=1..350,depth=10,ends=released) and test on 701 to 1400 (length=351..700). "
        "Training predicts every next token, and the end. "
        "The released sampler ends a sequence with probability 1/2 whenever all brackets are closed, on the "
        "condition that its length is one of those requested, which gives a mean of 40 brackets and a median of "
        "8. Without ends=released every length is equally likely, with a mean of 351. "
        "Here the default is shorter and shallower, too.",
    .length_unit = "pairs of brackets",
    .distance_unit = "tokens",
    .causal_only = true,
    .splits =
        {{"in_distribution", {}, "the trained lengths and depth"},
         {"ood_depth", {{"depth", "2x"}, {"opening", "0.8"}}, "twice the trained depth, at the trained lengths"},
         {"ood_length2", {{"length", "1x..2x"}}, "up to twice the trained lengths, to the trained depth"},
         {"ood_length4", {{"length", "2x..4x"}}, "up to four times the trained lengths, to the trained depth"}},
    .shortcuts = {.token = 0.64, .neighbor = 0.21, .count = 0.17},
};

enum class Ends { requested, released };

struct Options {
  Integers length{8, 24};
  int depth = 4;
  double opening = 0.5;
  int types = 8;
  Loss loss = Loss::noisy;
  Ends ends = Ends::requested;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "pairs of brackets");
    o.integer("depth", depth, 1, 100, "most brackets open at once");
    o.number("opening", opening, 0.01, 0.99,
             "probability that a bracket opens, before the condition on the length");
    o.integer("types", types, 2, 10000, "types of brackets");
    describe_loss(o, loss, "the closing brackets");
    o.choice("ends", ends, {"requested", "released"},
             "every length is equally likely, or a sequence ends with probability 1/2 whenever all brackets are "
             "closed, as in the released sampler",
             {{"asked", "requested"}});
  }
};

class Dyck final : public BasicTask<Options> {
 public:
  Dyck(const Options& options, Layout layout) : BasicTask(options, layout) {
    const int depth = options.depth, steps = 2 * options.length.max();
    returns_.assign(steps + 1, std::vector<double>(depth + 2, 0.0));
    exponents_.assign(steps + 1, 0);
    returns_[0][0] = 1;
    const double continues = options.ends == Ends::released ? 0.5 : 1;  // at depth 0
    for (int left = 1; left <= steps; ++left) {
      for (int open = 0; open <= depth; ++open) {
        const double up = (open == 0 ? continues : opening(open)) * returns_[left - 1][open + 1];
        returns_[left][open] = up + (open > 0 ? (1 - opening(open)) * returns_[left - 1][open - 1] : 0);
      }
      int exponent = 0;
      std::frexp(*std::ranges::max_element(returns_[left]), &exponent);
      for (double& value : returns_[left]) value = std::ldexp(value, -exponent);
      exponents_[left] = exponents_[left - 1] + exponent;
    }
    for (const int length : options.length.values()) total_ += released_weight(length);
  }

  int vocabulary() const override { return 2 * options_.types + 1; }
  double chance_level() const override { return 1.0 / options_.types; }
  std::string token_text(int token) const override {
    if (token == end()) return "end";
    return fmt::format("{}{}", token < options_.types ? '(' : ')', token % options_.types);
  }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> sequence, scored, distances, segments, open;  // open: the positions of open brackets
    int segment = 0;
    if (options_.ends == Ends::released) length = released_length(rng);
    for (int left = 2 * length; left > 0; --left) {
      const int t = static_cast<int>(sequence.size()), depth = static_cast<int>(open.size());
      segments.push_back(segment);
      const double up = depth == 0
                            ? 1
                            : std::ldexp(opening(depth) * returns_[left - 1][depth + 1] / returns_[left][depth],
                                         exponents_[left - 1] - exponents_[left]);
      if (bernoulli(rng, up)) {
        open.push_back(t);
        sequence.push_back(uniform(rng, 0, options_.types - 1));
      } else {
        scored.push_back(t - 1);
        distances.push_back(t - 1 - open.back());
        sequence.push_back(options_.types + sequence[open.back()]);
        open.pop_back();
        segment += open.empty();
      }
    }
    sequence.push_back(end());
    Example example = predict_next(std::move(sequence), std::move(scored), options_.loss);
    example.distances = std::move(distances);
    example.segments = std::move(segments);
    example.length = length;
    example.candidates.resize(options_.types);
    std::iota(example.candidates.begin(), example.candidates.end(), options_.types);
    return example;
  }

 private:
  int end() const { return 2 * options_.types; }
  /// Returns the probability that a walk ends after this number of pairs, relative to a power of two that keeps it
  /// away from zero.
  double released_weight(int length) const {
    return std::ldexp(returns_[2 * length][0], exponents_[2 * length] - exponents_[2 * options_.length.min()]);
  }
  /// Draws one of the lengths, with the probability that a walk which may end at depth 0 ends after this number of
  /// pairs.
  int released_length(Rng& rng) const {
    const std::vector<int>& lengths = options_.length.values();
    double rest = uniform_real(rng) * total_;
    for (const int length : lengths) {
      rest -= released_weight(length);
      if (rest < 0) return length;
    }
    return lengths.back();
  }

  /// Returns the probability that the walk opens a bracket when `open` are open.
  double opening(int open) const { return open == 0 ? 1 : open == options_.depth ? 0 : options_.opening; }

  /// The probability that a walk ends at depth 0, by the steps that are left and the brackets that are open. Row
  /// `left` is divided by 2 to the power of exponents_[left], so that long walks do not underflow.
  std::vector<std::vector<double>> returns_;  // (steps + 1, depth + 2)
  std::vector<int> exponents_;
  double total_ = 0;  // the sum of released_weight() over the lengths
};

const RegisterTask<Dyck> registered{kInfo};

}  // namespace
}  // namespace posbench::dyck
