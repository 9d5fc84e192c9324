// Sorts bits by whether their position is odd or even.
//
//   0 0 1 1 0 1 0 1 _   ->   0 1 1 1 0 1 0 0        order=code: the second, fourth, ... bit first
//   0 0 1 1 0 1 0 1 _   ->   0 1 0 0 0 1 1 1        order=paper: the first, third, ... bit first
#include <vector>

#include "tasks/parts/chomsky.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::odds_first {
namespace {

const TaskInfo kInfo{
    .name = "odds_first",
    .family = "chomsky/context_sensitive",
    .version = 2,
    .aspects = {Aspect::copying, Aspect::order},
    .definition = "The model reads uniform bits and answers every other one of them, then the bits between these.",
    .requirement =
        "Answers come from every other position, first from the odd and then from the even positions, so the "
        "source moves two positions for each answer.",
    .source = kChomskySource,
    .published_name = "Odds First",
    .published = chomsky_published(
        "The paper counts positions from one, its code from zero. "
        "The code made the published numbers, so its order is the default; order=paper is the order of the "
        "paper.",
        10),
    .length_unit = "bits",
    .splits = chomsky_splits(),
    .shortcuts = {.token = 0.66, .neighbor = 0.62, .count = 0.62},
};

enum class Order { code, paper };
struct Options {
  Integers length{1, 10};
  Order order = Order::code;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "bits");
    o.choice("order", order, {"code", "paper"},
             "first the 2nd, 4th, ... bits (code) or the 1st, 3rd, ... (paper)");
  }
};

class OddsFirst final : public ChomskyTask<Options, "01_", 2> {
 public:
  using ChomskyTask::ChomskyTask;

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> bits = uniform_tokens(rng, length, 0, 1);
    const int first = options_.order == Order::code ? 1 : 0;
    std::vector<int> answer;
    for (const int start : {first, 1 - first}) {
      for (int i = start; i < length; i += 2) answer.push_back(bits[i]);
    }
    return ask(layout_, bits, kBlank, answer);
  }
};

const RegisterTask<OddsFirst> registered{kInfo};

}  // namespace
}  // namespace posbench::odds_first
