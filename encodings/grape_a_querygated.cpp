// GRAPE-A, query-gated: ALiBi's penalty, times a gate that each query decides.
//
//   score_h(i, j) = q_i . k_j / sqrt(D) - (i - j) m_h softplus(o_h) softplus(v_h . q_i / sqrt(D))
//
// m_h: ALiBi's slopes; v_h learned and divided by its norm; softplus(o_h) starts at 1. Zhang et al. 2025,
// arXiv:2512.07805; model-architectures/GRAPE, where v ~ N(0, D^-0.5).
#include "encodings/parts/grape_gates.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class GrapeQueryGated final : public GrapeGates {
 public:
  using Options = NoOptions;
  GrapeQueryGated(const Options&, const ModelShape& shape, ParameterLayout& layout)
      : GrapeGates("grape_a_querygated", /*of_keys=*/false, /*of_queries=*/true, shape, layout) {}
};

const RegisterEncoding<GrapeQueryGated> registered{{
    .name = "grape_a_querygated",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) - (i - j) m_h softplus(o_h) softplus(v_h . q_i / sqrt(D)), |v_h| = 1",
    .source = "Zhang et al. 2025, arXiv:2512.07805; model-architectures/GRAPE",
    .notes = "The code normalizes queries and keys first; we do not.",
    .causal_only = true,
    .touches = "B Q",
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "query",
    .distance_decay = DistanceDecay::yes,
}};

}  // namespace
}  // namespace posbench
