// MapFormer, working memory: RoPE whose positions are sums of steps, which each token embedding gives for every head
// and pair.
//
//   score_h(i, j)      = R(phi_h(i)) q_i . R(phi_h(j)) k_j / sqrt(D)
//   pair n of phi_h(t) = omega_h[n] (s_0 + ... + s_t)_h[n]
//   s_t                = W_out W_in e_t,   e the token embeddings, read once before the first block; rank 2
//
// Steps are signed, so that paths may return. omega (H, D / 2) is learned, from 2 pi geometrically down to 2 pi /
// range. Rambaud et al. 2025, arXiv:2511.19279, read in a re-implementation, PrashRangarajan/mapformer: the
// authors' code was not found. Its pairs are interleaved and its range is 64, the size of its map. Initial
// weights, N(0, 1 / inputs), are ours.
#include "encodings/parts/contextual_rotary.h"
#include "encodings/parts/path_integration.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class MapFormerWm final : public ContextualRotary {
 public:
  struct Options {
    int rank = 2;
    double range = 64;
    void describe(OptionTable& o) {
      o.integer("rank", rank, 1, 1 << 16, "width between the two projections of a step");
      o.number("range", range, 1, 1e9, "the slowest pair starts that much slower than the fastest");
    }
  };

  MapFormerWm(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : ContextualRotary(shape, Pairing::interleaved, "mapformer_wm"),
        path_("mapformer_wm", options.rank, options.range, shape, layout) {}

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

const RegisterEncoding<MapFormerWm> registered{{
    .name = "mapformer_wm",
    .family = Family::contextual,
    .equation = "score(i, j) = R(phi(i)) q_i . R(phi(j)) k_j / sqrt(D),   phi(t)[n] = omega[n] times the sum over "
                "s <= t of "
                "(W_out W_in e_s)[n], e the token embeddings",
    .source = "Rambaud et al. 2025, arXiv:2511.19279; PrashRangarajan/mapformer (a re-implementation)",
    .notes = "Read in a re-implementation; the authors' code was not found. Initial weights are ours.",
    .causal_only = true,
    .touches = "R P",
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::accumulated,
    .content_dependent = "token",
    .variants = {"rank=3,range=9"},
}};

}  // namespace
}  // namespace posbench
