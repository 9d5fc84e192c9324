// Position coupling: digits of equal significance, in operands and result, share one learned position vector.
//
//   x_t += P[digit(t) + k],   digit is 0 for what is no digit
//   k uniform over 0 .. max_offset in training, 0 in evaluation
//
// digit: 1 for the least significant one, as the task says (Sequence::digit_positions). Cho et al. 2024,
// arXiv:2405.20671; HanseulJo/position-coupling, where operators share the index beside the least significant
// digit's and the random start moves all, as here: unlike abacus, whose 0 stays. Its indices fall with
// significance where ours rise, which only renames the rows. P starts like learned_abs here, N(0, C^-0.5). With a
// task that marks no digits every token of a sequence has the same row: no position at all, NoPE.
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
             "with significance where ours rise: the same up to the order of the rows.",
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
