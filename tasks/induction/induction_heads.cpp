// Predicts after the second trigger the token that followed the first.
//
//   3 7 ! 5 1 0 5 !   ->   5
//
// All other tokens are uniform. The first position of the trigger is uniform, at least two tokens before the last,
// or among the last `farthest`. The distance is the number of tokens from the second trigger back to the answer.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::induction_heads {
namespace {

const TaskInfo kInfo{
    .name = "induction_heads",
    .family = "induction",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads uniform tokens with a trigger among them and again at the end, and answers the token "
        "that followed the first trigger.",
    .requirement =
        "Attention has to find the earlier trigger by content, at any distance, and read the token after it.",
    .source = "Gu & Dao 2023, arXiv:2312.00752, section 4.1.2 and appendix E.1; after Olsson et al. 2022",
    .published_name = "induction heads",
    .published =
        "The paper has 16 ids, trains at 256 tokens and tests at 64 to 2^20. "
        "It does not give the layout; here it is the layout of the earlier task of H3. "
        "The default is shorter, and the splits separate a longer sequence from a longer distance.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained length"},
               {"ood_length",
                {{"length", "4x"}, {"farthest", "1x(length)-2"}},
                "the trained distances, in a longer sequence"},
               {"ood_length_far2", {{"length", "2x"}}, "twice the trained length, at any distance"},
               {"ood_length_far4", {{"length", "4x"}}, "four times the trained length, at any distance"}},
    .far = TaskInfo::Far{{{"farthest", "0"}}},
    .shortcuts = {.count = 0.08},
};

struct Options {
  Integers length{64};
  int vocabulary = 16;
  int farthest = 0;
  void describe(OptionTable& o) {
    o.integers("length", length, 4, 1 << 20, "tokens");
    o.integer("vocabulary", vocabulary, 3, 10000, "ids; the last is the trigger");
    o.integer("farthest", farthest, 0, 1 << 20, "longest distance from the second trigger to the answer; 0: any");
  }
};

class InductionHeads final : public BasicTask<Options> {
 public:
  InductionHeads(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.farthest == 1) {
      throw InputError("task 'induction_heads': farthest is 1, but the shortest distance is 2; 0 is any");
    }
  }

  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / trigger(); }
  std::string token_text(int token) const override { return token == trigger() ? "!" : std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> tokens = uniform_tokens(rng, length - 1, 0, trigger() - 1);
    const int nearest = length - 4, farthest = options_.farthest > 0 ? length - 2 - options_.farthest : 0;
    const int position = uniform(rng, std::max(farthest, 0), nearest);
    tokens[position] = trigger();
    const int answer = tokens[position + 1];
    Example example = ask(layout_, std::move(tokens), trigger(), {answer});
    set_evidence(example, {position + 1});
    return example;
  }

 private:
  int trigger() const { return options_.vocabulary - 1; }
};

const RegisterTask<InductionHeads> registered{kInfo};

}  // namespace
}  // namespace posbench::induction_heads
