// Computes the square root of a binary number, rounded down.
//
//   1 0 0 1 0 1 _   ->   1 1 0        37 and 6, most significant bit first
//
// Numbers are uniform over 1 .. 2^length - 1, with leading zeros, and so is the answer of length / 2 bits, rounded
// up. If the length is even, its first bit is 1 in 75 % of the cases, the second in 62.5 %, and so on: the most
// frequent bit of each position is right for 1/2 + 1/length of the positions. If the length is odd, the first bit
// is 1 in about 50 %, and the most frequent bits are right for about 1/2 + 0.34/length of the positions.
#include <algorithm>
#include <utility>
#include <vector>

#include "tasks/parts/chomsky.h"
#include "tasks/parts/digits.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::compute_sqrt {
namespace {

const TaskInfo kInfo{
    .name = "compute_sqrt",
    .family = "chomsky/context_sensitive",
    .version = 2,
    .aspects = {Aspect::arithmetic},
    .definition = "The model reads a binary number and answers its square root, rounded down.",
    .requirement =
        "Every bit of the root depends on all higher bits of the number by their places. "
        "No pair of positions decides it.",
    .source = kChomskySource,
    .published_name = "Compute Sqrt",
    .published = chomsky_published(
        "The most significant bit comes first, as in the code that made the published numbers; endian=little is "
        "the order of the paper.",
        10),
    .length_unit = "bits",
    .splits = chomsky_splits(),
    .largest_answer_fraction = 0.6,
    .shortcuts = {.token = 0.71, .neighbor = 0.76, .count = 0.66, .position = 0.68},
};

enum class Endian { big, little };
struct Options {
  Integers length{1, 10};
  Endian endian = Endian::big;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "bits");
    o.choice("endian", endian, {"big", "little"},
             "most significant bit first, as in the code, or least significant bit first, as in the paper");
  }
};

class ComputeSqrt final : public ChomskyTask<Options, "01_", 2> {
 public:
  using ChomskyTask::ChomskyTask;

  Example sample(int length, Rng& rng) const override {
    std::vector<int> question = positive_binary(rng, length);
    std::vector<int> root = square_root(question, 2);
    root.resize((length + 1) / 2, 0);
    if (options_.endian == Endian::big) {
      std::reverse(question.begin(), question.end());
      std::reverse(root.begin(), root.end());
    }
    return ask(layout_, std::move(question), kBlank, root);
  }
};

const RegisterTask<ComputeSqrt> registered{kInfo};

}  // namespace
}  // namespace posbench::compute_sqrt
