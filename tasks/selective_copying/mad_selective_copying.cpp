// Copies data tokens without the blanks before them.
//
//   3 _ _ 7 _ 0 | _ _ _   ->   3 7 0        targets at the three last blanks
//
// Each blank is put before a uniformly chosen data token, so the last data token is always directly before the
// marker. The distance is the number of tokens from the target position back to the data token.
#include <string>
#include <utility>
#include <vector>

#include "tasks/parts/examples.h"
#include "tasks/parts/selective_copying.h"
#include "tasks/registry.h"

namespace posbench::mad_selective_copying {
namespace {

const TaskInfo kInfo{
    .name = "mad_selective_copying",
    .family = "selective_copying",
    .aspects = {Aspect::copying},
    .definition =
        "The model reads data tokens with blanks before them and a marker, and answers the data tokens in "
        "order, one at each of as many blanks, without teacher forcing.",
    .requirement =
        "The model has to find the n-th data token among blanks by its number alone: a position in data tokens, "
        "not in all tokens.",
    .source = "Poli et al. 2024, arXiv:2403.17844; code athms/mad-lab",
    .published_name = "selective copying",
    .published =
        "The paper trains and tests on 256 tokens: 16 data tokens out of 14 ids and 223 blanks before the "
        "marker (blanks=13.9375). Here there are fewer blanks, and the splits are ours.",
    .length_unit = "data tokens",
    .distance_unit = "tokens",
    .splits = selective_copying_splits(),
    .shortcuts = {.token = 0.14, .neighbor = 0.1, .count = 0.1},
};

class MadSelectiveCopying final : public SelectiveCopyingTask<SelectiveCopyingOptions<2, 14>> {
 public:
  using SelectiveCopyingTask::SelectiveCopyingTask;
  std::string token_text(int token) const override {
    return token == blank() ? "_" : token == marker() ? "|" : std::to_string(token);
  }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> data = uniform_tokens(rng, length, 0, options_.tokens - 1);
    const int blanks = num_blanks(options_.blanks, length), positions = length + blanks;
    std::vector<int> before(length, 0);  // the number of blanks directly before data token n
    for (int b = 0; b < blanks; ++b) ++before[uniform(rng, 0, length - 1)];
    std::vector<int> question, distances;
    for (int n = 0; n < length; ++n) {
      question.insert(question.end(), before[n], blank());
      distances.push_back(positions + 1 + n - static_cast<int>(question.size()));
      question.push_back(data[n]);
    }
    question.push_back(marker());
    Example example = ask(Layout::slots, std::move(question), blank(), data);
    example.distances = std::move(distances);
    return example;
  }

 private:
  int blank() const { return options_.tokens; }
};

const RegisterTask<MadSelectiveCopying> registered{kInfo};

}  // namespace
}  // namespace posbench::mad_selective_copying
