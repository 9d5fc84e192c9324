// Copies data tokens without the blanks between them.
//
//   3 B B 2 1 B 1 B 0 |   ->   3 2 1 1 0
//
// Data tokens are uniform, and so is the set of their positions. The distance is the number of tokens from the
// target position back to the data token: it grows with the blanks, while the number of data tokens between the
// two does not.
#include <string>
#include <vector>

#include "tasks/parts/selective_copying.h"
#include "tasks/registry.h"

namespace posbench::selective_copy {
namespace {

const TaskInfo kInfo{
    .name = "selective_copy",
    .family = "selective_copying",
    .aspects = {Aspect::copying, Aspect::counting},
    .definition = "The model reads data tokens with blanks among them, and answers the data tokens in order.",
    .requirement =
        "Attention has to find the next data token after any number of blanks: a position in data tokens, not "
        "in all tokens.",
    .source = "Golovneva et al. 2024, arXiv:2405.18719, Table 2",
    .published_name = "selective copy",
    .published =
        "The paper has 256 data tokens and 256, 128 or 512 blanks, which are 16 times the default length here with "
        "the same ratios. Its vocabulary has 16 tokens; here there are 16 data tokens and a blank. We infer that its error "
        "is an error of whole sequences.",
    .length_unit = "data tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "as many blanks as data tokens"},
               {"ood_dense", {{"blanks", "0.5"}}, "half as many blanks, for the same data tokens"},
               {"ood_sparse", {{"blanks", "2"}}, "twice as many blanks, for the same data tokens"}},
    .far = TaskInfo::Far{},
};

class SelectiveCopy final : public SelectiveCopyingTask<SelectiveCopyingOptions<1, 16>> {
 public:
  using SelectiveCopyingTask::SelectiveCopyingTask;
  std::string token_text(int token) const override {
    return token == blank() ? "B" : token == marker() ? "|" : std::to_string(token);
  }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> data = uniform_tokens(rng, length, 0, options_.tokens - 1);
    return ask_scattered(layout_, data, num_blanks(options_.blanks, length), {blank(), marker()}, rng);
  }

 private:
  int blank() const { return options_.tokens; }
};

const RegisterTask<SelectiveCopy> registered{kInfo};

}  // namespace
}  // namespace posbench::selective_copy
