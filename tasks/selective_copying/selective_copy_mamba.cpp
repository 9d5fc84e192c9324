// Copies data tokens without the blanks between them, in the form of Mamba.
//
//   _ 6 _ _ 6 7 _ 7 5 _ | | | | |   ->   6 6 7 7 5
//
// Data tokens are uniform, and so is the set of their positions. The distance is the number of tokens from the
// target marker back to the data token.
#include <string>
#include <vector>

#include "tasks/parts/selective_copying.h"
#include "tasks/registry.h"

namespace posbench::selective_copy_mamba {
namespace {

const TaskInfo kInfo{
    .name = "selective_copy_mamba",
    .family = "selective_copying",
    .aspects = {Aspect::copying},
    .definition =
        "The model reads data tokens with blanks among them, and answers the data tokens in order, one at each "
        "of as many markers, without teacher forcing.",
    .requirement =
        "The model has to find the n-th data token among blanks by its number alone: a position in data tokens, "
        "not in all tokens.",
    .source = "Gu & Dao 2023, arXiv:2312.00752, section 4.1.1 and appendix E.1",
    .published_name = "selective copying",
    .published =
        "The paper has 16 data tokens out of 14 ids and length 4096. "
        "Its data derive from the copying data of state-spaces/s4, where the blanks are in addition to 16 data "
        "tokens and 16 markers (blanks=256). The measure is accuracy per token. "
        "Here sequences are shorter, and the splits are ours.",
    .length_unit = "data tokens",
    .distance_unit = "tokens",
    .splits = selective_copying_splits(),
    .far = TaskInfo::Far{},
    .shortcuts = {.token = 0.08},
};

class SelectiveCopyMamba final : public SelectiveCopyingTask<SelectiveCopyingOptions<2, 14>> {
 public:
  using SelectiveCopyingTask::SelectiveCopyingTask;
  std::string token_text(int token) const override {
    return token == kBlank ? "_" : token == marker() ? "|" : std::to_string(token);
  }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> data = uniform_tokens(rng, length, 1, options_.tokens);
    return ask_scattered(Layout::slots, data, num_blanks(options_.blanks, length), {kBlank, marker()}, rng);
  }

 private:
  static constexpr int kBlank = 0;
};

const RegisterTask<SelectiveCopyMamba> registered{kInfo};

}  // namespace
}  // namespace posbench::selective_copy_mamba
