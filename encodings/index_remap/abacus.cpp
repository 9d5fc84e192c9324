// Adds a learned vector for the position of a digit in its number to the token embedding.
#include "encodings/parts/digit_positions.h"
#include "encodings/registry.h"

namespace posbench::abacus {
namespace {

const EncodingInfo kInfo{
    .name = "abacus",
    .family = Family::index_remap,
    .equation =
        "x_t += P[digit(t) + k] if token t is a digit, else P[0]\n"
        "k is uniform over 0 .. max_offset in training, and 0 in evaluation",
    .source = "McLeish et al. 2024, arXiv:2405.17399; mcleish7/arithmetic",
    .notes =
        "The task states digit(t), which is 1 for the least significant digit. If a task marks no digits, "
        "every token reads P[0], which is NoPE. The code finds runs of digits in the tokens and numbers "
        "each run from its start. That is the same if numbers begin with their least significant digit, as "
        "the code requires. The code draws one k for each batch; here each sequence has its own. P starts with "
        "deviation C^-0.5; in the code it starts with deviation 1 before a normalization.",
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::no,
    .content_dependent = "token type",
    .distinct = Distinct::partly,
    .variants = {"rows=3"},
};

class Abacus final : public DigitPositions {
 public:
  using Options = DigitPositions::Options;
  Abacus(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : DigitPositions({.name = kInfo.name, .digits = Moved::stated}, options, config, layout) {}
};

const RegisterEncoding<Abacus> registered{kInfo};

}  // namespace
}  // namespace posbench::abacus
