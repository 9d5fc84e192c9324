// PaTH-FoX: the reflections of PaTH together with the forget gates of FoX.
//
//   score_h(i, j) = (k_j . R_(j+1) ... R_i q_i + F_i - F_j) / sqrt(D)
//   R_t as in PaTH,   F_t = sum over s <= t of log sigmoid(w_h . x_s + b_h) as in FoX
//
// Yang et al. 2025, arXiv:2505.16381; fla-org/flash-linear-attention, where 1 / sqrt(D) also multiplies the gates'
// sum, unlike in FoX. Options as in path; w ~ N(0, 0.02), b = 0.
#include "encodings/parts/forget_gate.h"
#include "encodings/parts/reflections.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class PathFox final : public PositionEncoding {
 public:
  struct Options {
    int rank = 32;
    bool convolution = true;
    double bias = 0;
    void describe(OptionTable& o) {
      o.integer("rank", rank, 1, 4096, "inner width of the map from x to the reflections' directions");
      o.flag("convolution", convolution,
             "directions depend on the last three tokens, through SiLU; otherwise on one token");
      o.number("bias", bias, -20, 20, "initial b: a gate starts at sigmoid(b)");
    }
  };

  PathFox(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : PositionEncoding(shape),
        reflections_("path_fox", options.rank, options.convolution, shape, layout),
        gate_("path_fox", Real(1), options.bias, shape, layout) {}

  void score(const AttentionInput& in, Heads& scores) const override {
    reflections_.score(in, scores);
    gate_.add(in, scale(), scores);
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    reflections_.score_backward(in, d_scores, d);
    gate_.add_backward(in, scale(), d_scores, d);
  }

 private:
  Reflections reflections_;
  ForgetGate gate_;
};

const RegisterEncoding<PathFox> registered{{
    .name = "path_fox",
    .family = Family::contextual,
    .equation = "score(i, j) = (k_j . R_(j+1) ... R_i q_i + sum of log f over tokens j + 1 .. i) / sqrt(D)",
    .source = "Yang et al. 2025, arXiv:2505.16381; fla-org/flash-linear-attention",
    .notes = "1 / sqrt(D) also multiplies the sum of the gates' logarithms, unlike in FoX.",
    .causal_only = true,
    .touches = "B Q",
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::accumulated,
    .content_dependent = "token",
    .distance_decay = DistanceDecay::yes,
    .variants = {"convolution=false,bias=3"},
}};

}  // namespace
}  // namespace posbench
