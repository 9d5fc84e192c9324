// Sorts the digits 0..4.
//
//   1 0 2 0 4 1 1 2 _   ->   0 0 1 1 1 2 2 4
//
// The position nearly determines the answer, because digits are uniform: at position i of n, floor(5 i / n) is
// right for 78 % of the positions at n = 40 and for 94 % at n = 500, where chance is 20 %.
#include <algorithm>
#include <utility>
#include <vector>

#include "tasks/parts/chomsky.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::bucket_sort {
namespace {

const TaskInfo kInfo{
    .name = "bucket_sort",
    .family = "chomsky/context_sensitive",
    .aspects = {Aspect::counting, Aspect::aggregation},
    .definition = "The model reads uniform digits 0..4 and answers them in ascending order.",
    .requirement =
        "The number of times that each digit occurs decides the answer, so the model has to count by content. "
        "The order of the question does not matter.",
    .source = kChomskySource,
    .published_name = "Bucket Sort",
    .published = chomsky_published(),
    .length_unit = "digits",
    .splits = chomsky_splits(),
    .shortcuts = {.token = 0.89, .neighbor = 0.41, .count = 0.32, .position = 0.43},
};

class BucketSort final : public ChomskyTask<LengthOption<"digits">, "01234_", 5> {
 public:
  using ChomskyTask::ChomskyTask;

  Example sample(int length, Rng& rng) const override {
    std::vector<int> digits = uniform_tokens(rng, length, 0, 4), sorted = digits;
    std::sort(sorted.begin(), sorted.end());
    return ask(layout_, std::move(digits), kBlank, sorted);
  }
};

const RegisterTask<BucketSort> registered{kInfo};

}  // namespace
}  // namespace posbench::bucket_sort
