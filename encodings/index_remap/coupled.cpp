// Adds one learned vector to all tokens whose positions the task couples, such as digits of equal significance in
// operands and result (position coupling).
#include "encodings/parts/digit_positions.h"
#include "encodings/registry.h"

namespace posbench::coupled {
namespace {

const EncodingInfo kInfo{
    .name = "coupled",
    .family = Family::index_remap,
    .equation =
        "x_t += P[digit(t) + k],   digit(t) = 0 if token t is not a digit\n"
        "k is uniform over 0 .. max_offset in training, and 0 in evaluation\n"
        "a task with coordinates: x_t += sum over n of P_n[c_n(t) + k_n],   P_n[0] if c_n(t) = 0",
    .source = "Cho et al. 2024, arXiv:2405.20671 and arXiv:2410.15787; HanseulJo/position-coupling",
    .notes =
        "The task states digit(t), which is 1 for the least significant digit. If a task marks no digits, "
        "all tokens of a sequence read the same row, which is NoPE. As in the code, operators have the "
        "index next to that of the least significant digit, and the random offset is added to every index; "
        "abacus never shifts its index 0. Indices rise with significance, as in the code since 2024-10-16; "
        "before, they fell. In the code the largest offset depends on the length, so that the greatest index "
        "is at most max_position; here it is max_offset for every length. P starts with deviation C^-0.5. "
        "If the task states coordinates, such as the column and the row of a cell, each coordinate has a table and an "
        "offset (d_positions in the code). shared=true is one table for all (share_pe). As in the code, the offset is not "
        "added where a token lacks the coordinate.",
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::no,
    .content_dependent = "token type",
    .distinct = Distinct::partly,
    .variants = {"rows=3", "shared=true"},
};

class Coupled final : public DigitPositions {
 public:
  struct Options : DigitPositions::Options {
    bool shared = false;
    void describe(OptionTable& o) {
      DigitPositions::Options::describe(o);
      o.flag("shared", shared, "one table for all coordinates");
    }
  };
  Coupled(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : DigitPositions({.name = kInfo.name,
                        .digits = Moved::all,
                        .coordinates = config.coordinates,
                        .shared = options.shared},
                       options, config, layout) {}
};

const RegisterEncoding<Coupled> registered{kInfo};

}  // namespace
}  // namespace posbench::coupled
