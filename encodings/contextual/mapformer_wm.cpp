// MapFormer, working memory: RoPE whose positions are sums of steps. Each token embedding gives a step for every
// head and pair.
#include "encodings/parts/contextual_rotary.h"
#include "encodings/parts/path_integration.h"
#include "encodings/registry.h"

namespace posbench::mapformer_wm {
namespace {

const EncodingInfo kInfo{
    .name = "mapformer_wm",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = R(phi_h(i)) q_i . R(phi_h(j)) k_j / sqrt(D)\n"
        "phi_h(t)[n]   = omega_h[n] (s_0 + ... + s_t)_h[n]\n"
        "s_t           = W_out W_in e_t,   e: the token embeddings, read once before the first block",
    .source = "Rambaud et al. 2025, arXiv:2511.19279; PrashRangarajan/mapformer (a re-implementation)",
    .notes =
        "Read in a re-implementation; the authors' code was not found. Steps are signed, so that paths may "
        "return. omega (H, D / 2) starts geometric, from 2 pi down to 2 pi / range; the range is 64, the size "
        "of that code's map. The initial weights, N(0, 1 / inputs), are a choice of posbench.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::accumulated,
    .content_dependent = "token",
    .variants = {"rank=3,range=9"},
};

class MapFormerWm final : public ContextualRotary {
 public:
  using Options = PathIntegration::Options;

  MapFormerWm(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : ContextualRotary(config, Pairing::interleaved, "mapformer_wm"),
        path_("mapformer_wm", options, config, layout) {}

  int recurrent_states() const override { return 1; }
  void embed(const Sequence&, const Parameters& p, const Tables&, Matrix& x,
             Matrices& recurrent_state) const override {
    path_.embed(p, x, recurrent_state);
  }
  void embed_backward(const Sequence&, const Parameters& p, const Tables&, const Matrix& x,
                      const Matrices& d_recurrent_state, Matrix& d_x, Matrices&, Gradients& d) const override {
    path_.embed_backward(p, x, d_recurrent_state, d_x, d);
  }
  const Matrix& angles(const AttentionInput& in) const override { return path_.angles(in); }
  void angles_backward(const AttentionInput& in, Matrix& d_angles, AttentionGradient& d) const override {
    path_.angles_backward(in, d_angles, d);
  }

 private:
  PathIntegration path_;
};

const RegisterEncoding<MapFormerWm> registered{kInfo};

}  // namespace
}  // namespace posbench::mapformer_wm
