// GRAPE-A, key-gated: ALiBi's penalty, times a gate that each key decides.
//
//   score_h(i, j) = q_i . k_j / sqrt(D) - (i - j) m_h softplus(o_h) softplus(u_h . k_j / sqrt(D))
//
// m_h: ALiBi's slopes; u_h learned and divided by its norm; softplus(o_h) starts at 1. Zhang et al. 2025,
// arXiv:2512.07805; model-architectures/GRAPE, where u ~ N(0, D^-0.5).
#include "encodings/parts/grape_gates.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class GrapeKeyGated final : public GrapeGates {
 public:
  using Options = NoOptions;
  GrapeKeyGated(const Options&, const ModelShape& shape, ParameterLayout& layout)
      : GrapeGates("grape_a_keygated", /*of_keys=*/true, /*of_queries=*/false, shape, layout) {}
};

const RegisterEncoding<GrapeKeyGated> registered{{
    .name = "grape_a_keygated",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) - (i - j) m_h softplus(o_h) softplus(u_h . k_j / sqrt(D)), |u_h| = 1",
    .source = "Zhang et al. 2025, arXiv:2512.07805; model-architectures/GRAPE",
    .notes = "The code normalizes queries and keys first; we do not.",
    .causal_only = true,
    .touches = "B Q",
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "key",
    .distance_decay = DistanceDecay::yes,
}};

}  // namespace
}  // namespace posbench
