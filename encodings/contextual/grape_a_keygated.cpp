// GRAPE-A, key-gated: ALiBi's penalty times a gate that each key decides.
#include "encodings/parts/grape_gates.h"
#include "encodings/registry.h"

namespace posbench::grape_a_keygated {
namespace {

const EncodingInfo kInfo = grape_gates_info(EncodingInfo{
    .name = "grape_a_keygated",
    .equation = "score_h(i, j) = q_i . k_j / sqrt(D) - (i - j) m_h softplus(o_h) softplus(u_h . k_j / sqrt(D))\n"
                "|u_h| = 1",
    .content_dependent = "key",
    .kernel = Kernel::score_modifier,
});

class GrapeKeyGated final : public GrapeGates {
 public:
  GrapeKeyGated(const Options&, const ModelConfig& config, ParameterLayout& layout)
      : GrapeGates(kInfo.name, GatedBy::key, config, layout) {}
};

const RegisterEncoding<GrapeKeyGated> registered{kInfo};

}  // namespace
}  // namespace posbench::grape_a_keygated
