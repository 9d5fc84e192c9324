// Adds one learned vector to all digits of equal significance, in operands and result (position coupling).
#include "encodings/parts/digit_positions.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

const EncodingInfo kInfo{
    .name = "coupled",
    .family = Family::index_remap,
    .equation =
        "x_t += P[digit(t) + k],   digit(t) = 0 if token t is not a digit\n"
        "k is uniform over 0 .. max_offset in training, and 0 in evaluation",
    .source = "Cho et al. 2024, arXiv:2405.20671; HanseulJo/position-coupling",
    .notes =
        "The task states digit(t), which is 1 for the least significant digit. If a task marks no digits, "
        "all tokens of a sequence read the same row, which is NoPE. As in the code, operators have the "
        "index next to that of the least significant digit, and the random offset is added to every index; "
        "abacus never shifts its index 0. Indices rise with significance, as in the code since 2024-10-16; "
        "before, they fell. In the code the largest offset depends on the length, so that the greatest index "
        "is at most max_position; here it is max_offset for every length. P starts with deviation C^-0.5.",
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::no,
    .content_dependent = "token type",
    .distinct = Distinct::partly,
    .variants = {"rows=3"},
};

class Coupled final : public DigitPositions {
 public:
  using Options = DigitPositions::Options;
  Coupled(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : DigitPositions(kInfo.name, Moved::all, options, config, layout) {}
};

const RegisterEncoding<Coupled> registered{kInfo};

}  // namespace
}  // namespace posbench
