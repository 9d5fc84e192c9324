// GRAPE-A, query-gated: ALiBi's penalty times a gate that each query decides.
#include "encodings/parts/grape_gates.h"
#include "encodings/registry.h"

namespace posbench::grape_a_querygated {
namespace {

const EncodingInfo kInfo = grape_gates_info(EncodingInfo{
    .name = "grape_a_querygated",
    .equation = "score_h(i, j) = q_i . k_j / sqrt(D) - (i - j) m_h softplus(o_h) softplus(v_h . q_i / sqrt(D))\n"
                "|v_h| = 1",
    .content_dependent = "query",
    .kernel = Kernel::score_modifier,
});

class GrapeQueryGated final : public GrapeGates {
 public:
  GrapeQueryGated(const Options&, const ModelConfig& config, ParameterLayout& layout)
      : GrapeGates(kInfo.name, GatedBy::query, config, layout) {}
};

const RegisterEncoding<GrapeQueryGated> registered{kInfo};

}  // namespace
}  // namespace posbench::grape_a_querygated
