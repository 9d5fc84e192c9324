// GRAPE-A, gated by both: ALiBi's penalty times the sum of a gate of the query and a gate of the key.
#include "encodings/parts/grape_gates.h"
#include "encodings/registry.h"

namespace posbench::grape_a_querykeygated {
namespace {

const EncodingInfo kInfo = grape_gates_info(EncodingInfo{
    .name = "grape_a_querykeygated",
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) - (i - j) m_h softplus(o_h) (softplus(v_h . q_i / sqrt(D)) +\n"
        "                softplus(u_h . k_j / sqrt(D))),   |u_h| = |v_h| = 1",
    .content_dependent = "query and key",
    .kernel = Kernel::score_modifier,
});

class GrapeQueryKeyGated final : public GrapeGates {
 public:
  GrapeQueryKeyGated(const Options&, const ModelConfig& config, ParameterLayout& layout)
      : GrapeGates(kInfo.name, GatedBy::query_and_key, config, layout) {}
};

const RegisterEncoding<GrapeQueryKeyGated> registered{kInfo};

}  // namespace
}  // namespace posbench::grape_a_querykeygated
