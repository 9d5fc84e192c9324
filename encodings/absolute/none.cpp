// Uses no position encoding (NoPE): only the causal mask distinguishes orders of tokens.
#include "encodings/aliases.h"
#include "encodings/registry.h"

namespace posbench::none {
namespace {

const EncodingInfo kInfo{
    .name = "none",
    .family = Family::absolute,
    .equation = "score_h(i, j) = q_i . k_j / sqrt(D)",
    .source = "Haviv et al. 2022, arXiv:2203.16634; Kazemnejad et al. 2023, arXiv:2305.19466",
    .used_in = {"Jamba"},
    .notes =
        "A bidirectional model without positions cannot distinguish orders of tokens; it can be run as a "
        "baseline. The published results on the Chomsky tasks (Deletang et al. 2023; profile che) are those of such an "
        "encoder with empty answer slots, which the board calls none (bidirectional); by default none is a causal model, "
        "which learns order from its mask. The code of the second paper omits 1 / sqrt(D), which T5's initializer absorbs. It is "
        "kept here, so that encodings differ only in position.",
    .permutation_invariant = true,
    .without_attention = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::not_applicable,
    .content_dependent = "no",
    .distinct = Distinct::no,
};

class None final : public PositionEncoding {
 public:
  using Options = NoOptions;
  None(const Options&, const ModelConfig& config, ParameterLayout&) : PositionEncoding(config) {}
};

const RegisterEncoding<None> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"nope", "nopos"}};

}  // namespace
}  // namespace posbench::none
