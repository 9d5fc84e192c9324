// Position coupling: digits of equal significance, in operands and result, share one learned position vector.
//
//   x_t += P[digit(t) + k],   digit is 0 for what is no digit
//   k uniform over 0 .. max_offset in training, 0 in evaluation
//
// digit: 1 for the least significant one, given by the task (Sequence::digit_positions). Cho et al. 2024,
// arXiv:2405.20671; HanseulJo/position-coupling, where operators have the index next to the least significant
// digit's, and the random offset is added to every index, as here; abacus never shifts its index 0. Its indices
// fall with significance, ours rise: only the order of the rows differs. P starts like learned_abs here,
// N(0, C^-0.5). With a task that marks no digits every token of a sequence gets the same row, which is NoPE.
#include "encodings/parts/digit_positions.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class Coupled final : public DigitPositions {
 public:
  using Options = DigitPositions::Options;
  Coupled(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : DigitPositions("coupled", Moved::all, options, shape, layout) {}
};

const RegisterEncoding<Coupled> registered{{
    .name = "coupled",
    .family = Family::index_remap,
    .equation = "x_t += P[digit(t) + k],   digit 0 for what is no digit, k random in training, 0 in evaluation",
    .source = "Cho et al. 2024, arXiv:2405.20671; HanseulJo/position-coupling",
    .notes = "Made for tasks with numbers (addition); with a task that marks no digits it is NoPE. The code's "
             "indices fall "
             "with significance, ours rise: the same up to the order of the rows.",
    .touches = "E P",
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::no,
    .content_dependent = "token type",
    .distinct = Distinct::partly,
    .variants = {"rows=3"},
}};

}  // namespace
}  // namespace posbench
