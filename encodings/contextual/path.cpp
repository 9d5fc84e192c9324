// PaTH: every token gives a reflection, and a score multiplies by the product of the reflections between key and
// query.
#include "encodings/parts/reflections.h"
#include "encodings/registry.h"

namespace posbench::path {
namespace {

const EncodingInfo kInfo{
    .name = "path",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = k_j . R_(j+1) R_(j+2) ... R_i q_i / sqrt(D),   R_t = I - beta_t w_t w_t^T\n"
        "beta_t        = 2 sigmoid(b_h . x_t + c_h)\n"
        "w_t           = v_t / |v_t| by head,   v_t = SiLU(K_0 * u_(t-2) + K_1 * u_(t-1) + K_2 * u_t)\n"
        "u_t           = W_up W_down x_t",
    .source = "Yang et al. 2025, arXiv:2505.16381; fla-org/flash-linear-attention",
    .notes =
        "As in the code, the rank is 32, and neither the maps to u nor the convolution K have a bias. "
        "convolution=false leaves out K and the SiLU, a smaller form than the published one. Products are "
        "accumulated key by key, O(T^2 D), instead of in the paper's block form; the result is the same. 1e-12 "
        "is added to the squared norm of a direction, where the library adds 1e-6. Weights start at U(-1, 1) / "
        "sqrt(inputs), c at 0.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::accumulated,
    .content_dependent = "token",
    .cached = "nothing, but each token changes the cached keys",
    .variants = {"convolution=false,rank=3"},
};

class Path final : public PositionEncoding {
 public:
  using Options = Reflections::Options;

  Path(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config), reflections_("path", options, config, layout) {}

  void score(const AttentionInput& in, Heads& scores) const override { reflections_.score(in, scores); }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    reflections_.score_backward(in, d_scores, d);
  }

 private:
  Reflections reflections_;
};

const RegisterEncoding<Path> registered{kInfo};

}  // namespace
}  // namespace posbench::path
