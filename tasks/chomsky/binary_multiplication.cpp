// Multiplies two binary numbers, least significant bit first.
//
//   0 0 1 * 0 1 1 0 1 _   ->   0 0 0 1 1 0 1 *        4 * 22 = 88
//
// binary_operands() draws the operands. The answer has no superfluous zeros, and its terminator has the id of the
// sign; there are `length` slots. Lengths 1 and 2 exist only so that every length is defined: the question is a
// single number, and the answer before the terminator is empty or 0.
#include "tasks/parts/chomsky.h"
#include "tasks/parts/digits.h"
#include "tasks/registry.h"

namespace posbench::binary_multiplication {
namespace {

const TaskInfo kInfo{
    .name = "binary_multiplication",
    .family = "chomsky/context_sensitive",
    .version = 2,
    .aspects = {Aspect::arithmetic},
    .definition =
        "The model reads two binary numbers, least significant bit first, and answers their product, followed "
        "by a terminator.",
    .requirement =
        "Each bit of the product depends on all pairs of bits whose places add up to its own, and on carries.",
    .source = kChomskySource,
    .published_name = "Binary Multiplication",
    .published = chomsky_published(kChomskyTerminator, 9),
    .length_unit = "tokens",
    .splits = chomsky_splits(),
    .largest_answer_fraction = 0.50,
    .shortcuts = {.token = 0.6, .neighbor = 0.59, .count = 0.63, .position = 0.6},
};

class BinaryMultiplication final : public ChomskyTask<LengthOption<"tokens", 9>, "01*_", 3> {
 public:
  using ChomskyTask::ChomskyTask;

  Example sample(int length, Rng& rng) const override {
    const Operands operands = binary_operands(rng, length);
    const Digits product = length <= 2 ? Digits(length - 1, 0) : multiply(operands.first, operands.second, 2);
    return ask_binary(layout_, operands, product, length);
  }
};

const RegisterTask<BinaryMultiplication> registered{kInfo};

}  // namespace
}  // namespace posbench::binary_multiplication
