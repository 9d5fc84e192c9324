// Adds a learned vector for the clipped distance to each key.
#include "encodings/aliases.h"
#include "encodings/parts/relative_keys.h"
#include "encodings/registry.h"

namespace posbench::shaw_k {
namespace {

const EncodingInfo kInfo{
    .name = "shaw_k",
    .family = Family::relative_vectors,
    .equation =
        "score_h(i, j) = q_i . (k_j + A[clip(j - i, -K, K)]) / sqrt(D)\n"
        "A (2K + 1, D) learned for each layer, shared by heads",
    .source = "Shaw et al. 2018, arXiv:1803.02155, section 3.2; tensorflow/tensor2tensor",
    .used_in = {"Music Transformer"},
    .notes =
        "The paper's larger form, shaw_kv, adds vectors to the values as well. Causal models use only the "
        "rows up to K. The released code leaves the initial values to its framework; A starts with "
        "deviation D^-0.5 here. CoPE's baseline `rel` is clip=0,shared_table=true, with a vector for every "
        "trained distance.",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "query",
    .distinct = Distinct::partly,
    .kernel = Kernel::score_modifier,
    .variants = {"clip=0,shared_table=true", "clip=2"},
};

class ShawK final : public RelativeKeys {
 public:
  using Options = RelativeKeysOptions;
  ShawK(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : RelativeKeys(options, kInfo.name, config, layout) {}
};

const RegisterEncoding<ShawK> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"shaw", "relative"}};

}  // namespace
}  // namespace posbench::shaw_k
