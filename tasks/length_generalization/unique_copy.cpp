// Copies a string of distinct tokens.
//
//   3 7 1 9 =   ->   3 7 1 9 =
//
// An induction head (find the last token read, take the token after it) copies such a string at any length.
// `repeat_copy` is the form that is predicted to fail.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/copying.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::unique_copy {
namespace {

const TaskInfo kInfo{
    .name = "unique_copy",
    .family = "length_generalization",
    .aspects = {Aspect::copying},
    .definition = "The model reads distinct tokens and answers them again, and then their end.",
    .requirement =
        "No two tokens are equal, so attention finds the last answer by content and reads the token after it.",
    .source =
        "Zhou et al. 2023, arXiv:2310.16028; Huang et al. 2024, arXiv:2410.02140; code "
        "lacoco-lab/length_generalization",
    .published_name = "Copy with unique tokens; Unique Copy",
    .published =
        "Theory predicts that the task generalizes to longer sequences if positions can be distinguished: it "
        "has a short RASP-L program, and it is in C-RASP[periodic, local] but needs its local relation. "
        "Huang et al. publish exact-match accuracies at 51..100 and 101..150 tokens after training on up to 50: "
        "1.00 and 0.99 with learned positions, shifted at random in training; 0.18 and 0.00 with none. "
        "These are means over the first five runs, which all solve every test sample of trained lengths. "
        "They have 150 different tokens; here the ratios are the same at two fifths of the size. "
        "The begin token is left out, and one separator serves as both.",
    .length_unit = "tokens",
    .splits = splits_to_three_times_the_length(),
    .largest_answer_fraction = 0.09,
    .shortcuts = {.token = 0.15, .neighbor = 0.14, .count = 0.14, .position = 0.13},
};

struct Options {
  Integers length{1, 20};
  int symbols = 60;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "tokens to copy");
    o.integer("symbols", symbols, 2, 10000, "different tokens");
  }
};

class UniqueCopy final : public CopyingTask<Options> {
 public:
  UniqueCopy(const Options& options, Layout layout) : CopyingTask(options, layout) {
    if (options.length.max() > options.symbols) {
      throw InputError(
          fmt::format("task 'unique_copy': length {} needs as many symbols, not {}; raise symbols or lower length",
                      options.length.max(), options.symbols));
    }
  }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> tokens = distinct_ids(rng, 0, options_.symbols, length), answer = tokens;
    answer.push_back(separator());
    return ask(layout_, std::move(tokens), separator(), answer);
  }
};

const RegisterTask<UniqueCopy> registered{kInfo};

}  // namespace
}  // namespace posbench::unique_copy
