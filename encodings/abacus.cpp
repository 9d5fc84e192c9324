// Abacus: a learned vector for the position of a digit in its number, added to the token embedding.
//
//   x_t += P[0] where t is no digit, else P[digit(t) + k]
//   k uniform over 0 .. max_offset in training, 0 in evaluation
//
// digit: 1 for the least significant one, given by the task (Sequence::digit_positions). McLeish et al. 2024,
// arXiv:2405.17399; mcleish7/arithmetic, which finds runs of digits in the tokens and numbers each from its start:
// the same if numbers are written with their least significant digit first, as it demands. There P starts with
// deviation 1 before a normalization; here like learned_abs, N(0, C^-0.5). With a task that marks no digits every
// token gets P[0], which is NoPE.
#include "encodings/parts/digit_positions.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class Abacus final : public DigitPositions {
 public:
  using Options = DigitPositions::Options;
  Abacus(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : DigitPositions("abacus", Moved::digits, options, shape, layout) {}
};

const RegisterEncoding<Abacus> registered{{
    .name = "abacus",
    .family = Family::index_remap,
    .equation = "x_t += P[0] where t is no digit, else P[digit(t) + k],   k random in training, 0 in evaluation",
    .source = "McLeish et al. 2024, arXiv:2405.17399; mcleish7/arithmetic",
    .notes = "Made for tasks with numbers (addition); with a task that marks no digits it is NoPE. The code "
             "numbers digits in "
             "their order, which is their position where the least significant comes first.",
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
