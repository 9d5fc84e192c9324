// Adds two binary numbers, least significant bit first.
//
//   0 0 1 + 0 1 1 0 1 _   ->   0 1 0 1 1 +        4 + 22 = 26
//
// binary_operands() draws the operands. The answer has no superfluous zeros, and its terminator has the id of the
// sign; there are length + 1 slots. A question of length 1 or 2 is a single number, which is its own answer.
#include "tasks/parts/chomsky.h"
#include "tasks/parts/digits.h"
#include "tasks/registry.h"

namespace posbench::binary_addition {
namespace {

const TaskInfo kInfo{
    .name = "binary_addition",
    .family = "chomsky/context_sensitive",
    .aspects = {Aspect::arithmetic},
    .definition =
        "The model reads two binary numbers, least significant bit first, and answers their sum, followed by a "
        "terminator.",
    .requirement =
        "Each bit of the sum depends on the two bits of its place, whose distance grows with the operands, and "
        "on a carry from all lower places.",
    .source = kChomskySource,
    .published_name = "Binary Addition",
    .published = chomsky_published(kChomskyTerminator),
    .length_unit = "tokens",
    .splits = chomsky_splits(),
    .largest_answer_fraction = 0.51,
};

class BinaryAddition final : public ChomskyTask<LengthOption<"tokens">, "01+_", 3> {
 public:
  using ChomskyTask::ChomskyTask;

  Example sample(int length, Rng& rng) const override {
    const Operands operands = binary_operands(rng, length);
    return ask_binary(layout_, operands, add(operands.first, operands.second, 2), length + 1);
  }
};

const RegisterTask<BinaryAddition> registered{kInfo};

}  // namespace
}  // namespace posbench::binary_addition
