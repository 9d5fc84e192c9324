// PaTH: every token gives a reflection, and a score multiplies by the product of those between key and query.
//
//   score_h(i, j) = k_j . R_(j+1) R_(j+2) ... R_i q_i / sqrt(D),   R_t = I - beta_t w_t w_t^T
//   beta_t        = 2 sigmoid(b_h . x_t + c_h)
//   w_t           = v_t / |v_t| by head,   v_t = SiLU(sum over s = 0 .. 2 of K_s * u_(t-s))
//   u_t           = W_up W_down x_t
//
// Yang et al. 2025, arXiv:2505.16381; fla-org/flash-linear-attention, where the maps to u have no bias, rank 32
// and the convolution K no bias either. convolution=false leaves out K and the SiLU, a smaller form than the
// published one. Products are accumulated key by key, O(T^2 D); the paper works in blocks, with the same result.
// Initial values: U(-1, 1) / sqrt(inputs), and c = 0.
#include "encodings/parts/reflections.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class Path final : public PositionEncoding {
 public:
  struct Options {
    int rank = 32;
    bool convolution = true;
    void describe(OptionTable& o) {
      o.integer("rank", rank, 1, 4096, "inner width of the map from x to the reflections' directions");
      o.flag("convolution", convolution,
             "directions depend on the last three tokens, through SiLU; otherwise on one token");
    }
  };

  Path(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : PositionEncoding(shape), reflections_("path", options.rank, options.convolution, shape, layout) {}

  void score(const AttentionInput& in, Heads& scores) const override { reflections_.score(in, scores); }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    reflections_.score_backward(in, d_scores, d);
  }

 private:
  Reflections reflections_;
};

const RegisterEncoding<Path> registered{{
    .name = "path",
    .family = Family::contextual,
    .equation =
        "score(i, j) = k_j . R_(j+1) ... R_i q_i / sqrt(D), R_t = I - beta_t w_t w_t^T, beta_t and w_t from x",
    .source = "Yang et al. 2025, arXiv:2505.16381; fla-org/flash-linear-attention",
    .notes = "Computed key by key, O(T^2 D), instead of in the paper's block form; the result is the same. 1e-12 is "
             "added to the squared norm of a direction, where the library adds 1e-6.",
    .causal_only = true,
    .touches = "Q",
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::accumulated,
    .content_dependent = "token",
    .variants = {"convolution=false,rank=3"},
}};

}  // namespace
}  // namespace posbench
