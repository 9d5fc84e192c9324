// GRAPE-A with all gates: ALiBi's penalty, times the sum of a gate of the query and one of the key.
//
//   score_h(i, j) = q_i . k_j / sqrt(D) - (i - j) m_h softplus(o_h) (softplus(v_h . q_i / sqrt(D)) +
//                   softplus(u_h . k_j / sqrt(D)))
//
// m_h: ALiBi's slopes; u_h and v_h learned and divided by their norms; softplus(o_h) starts at 1. Zhang et al.
// 2025, arXiv:2512.07805; model-architectures/GRAPE, where u, v ~ N(0, D^-0.5).
#include "encodings/parts/grape_gates.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class GrapeQueryKeyGated final : public GrapeGates {
 public:
  using Options = NoOptions;
  GrapeQueryKeyGated(const Options&, const ModelShape& shape, ParameterLayout& layout)
      : GrapeGates("grape_a_querykeygated", /*of_keys=*/true, /*of_queries=*/true, shape, layout) {}
};

const RegisterEncoding<GrapeQueryKeyGated> registered{{
    .name = "grape_a_querykeygated",
    .family = Family::contextual,
    .equation = "score_h(i, j) = q_i . k_j / sqrt(D) - (i - j) m_h softplus(o_h) (softplus(v_h . q_i / sqrt(D)) + "
                "softplus(u_h . k_j / sqrt(D))), |u_h| = |v_h| = 1",
    .source = "Zhang et al. 2025, arXiv:2512.07805; model-architectures/GRAPE",
    .notes = "The code normalizes queries and keys first; we do not.",
    .causal_only = true,
    .touches = "B Q",
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "query and key",
    .distance_decay = DistanceDecay::yes,
}};

}  // namespace
}  // namespace posbench
