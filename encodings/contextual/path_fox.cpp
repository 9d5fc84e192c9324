// PaTH-FoX: the reflections of PaTH together with the forget gates of FoX.
#include "encodings/parts/forget_gate.h"
#include "encodings/parts/reflections.h"
#include "encodings/registry.h"

namespace posbench::path_fox {
namespace {

const EncodingInfo kInfo{
    .name = "path_fox",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = (k_j . R_(j+1) ... R_i q_i + F_i - F_j) / sqrt(D)\n"
        "R_t as in path,   F_t = sum over s <= t of log sigmoid(w_h . x_s + b_h) as in fox",
    .source = "Yang et al. 2025, arXiv:2505.16381; fla-org/flash-linear-attention",
    .notes = "1 / sqrt(D) also multiplies the sum of the gates' logarithms, unlike in FoX.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::accumulated,
    .content_dependent = "token",
    .distance_decay = DistanceDecay::yes,
    .cached = "H sums of logarithms of gates, and each token changes the cached keys",
    .variants = {"convolution=false,bias=3"},
};

class PathFox final : public PositionEncoding {
 public:
  struct Options : Reflections::Options {
    double bias = 0;
    void describe(OptionTable& o) {
      Reflections::Options::describe(o);
      o.number("bias", bias, -20, 20, "initial b; a gate starts at sigmoid(b)");
    }
  };

  PathFox(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config),
        reflections_("path_fox", options, config, layout),
        gate_("path_fox", Real(1), options.bias, config, layout) {}

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

const RegisterEncoding<PathFox> registered{kInfo};

}  // namespace
}  // namespace posbench::path_fox
