// Computes the parity of bits that follow hints, step by step.
//
//   h4 1 h5 0 h6 1 h7 1 =   ->   h4 1 h6 0 h7 1 .        hints name positions; a step for every 1
//   1 0 1 1 =               ->   1 1 0 1 .               hints=0: a step for every bit
//   h4 1 h5 0 h6 1 h7 1 =   ->   1                       scratchpad=false
//
// Hints are consecutive from a uniform start, so that long sequences use hints that short ones trained. The parity
// of the last step is the answer; without a 1, the answer is only the end token. A sequence has as many slots as
// ones would need.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::index_hint_parity {
namespace {

const TaskInfo kInfo{
    .name = "index_hint_parity",
    .family = "length_generalization",
    .aspects = {Aspect::state_tracking},
    .definition =
        "The model reads bits, each after a hint that names its position, and answers the hint of each bit that "
        "is 1, with the parity so far.",
    .requirement =
        "Each answer depends on the bit that its hint names, found by content, and on the parity that was just "
        "written, at a fixed distance.",
    .source = "Zhou et al. 2023, arXiv:2310.16028",
    .published_name = "Parity with index hints and scratchpad",
    .published =
        "Theory predicts that parity generalizes to longer sequences with hints and scratchpad, because it then "
        "has a short RASP-L program, which finds the next 1 by its hint and flips the last parity of the "
        "answer. Theory predicts that it does not generalize without either; `parity_check` is that task. "
        "The text of the paper could not be read, and its released code does not have the task: the layout, the "
        "lengths and the splits are ours.",
    .length_unit = "bits",
    .splits = splits_to_three_times_the_length(),
    .largest_answer_fraction = 0.26,
    .shortcuts = {.token = 0.68, .neighbor = 0.31, .count = 0.28, .position = 0.41},
};

struct Options {
  Integers length{1, 16};
  int hints = 48;
  bool scratchpad = true;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "bits");
    o.integer("hints", hints, 0, 10000, "number of different hints; 0: bits without hints");
    o.flag("scratchpad", scratchpad, "answers the steps, not the parity alone");
  }
};

class IndexHintParity final : public BasicTask<Options> {
 public:
  IndexHintParity(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.hints > 0 && options.length.max() > options.hints) {
      throw InputError(fmt::format(
          "task 'index_hint_parity': length {} needs as many hints, not {}; raise hints or lower length",
          options.length.max(), options.hints));
    }
  }

  int vocabulary() const override { return kHint + options_.hints; }
  double chance_level() const override { return options_.scratchpad ? 1.0 / (vocabulary() - 1) : 0.5; }
  std::string token_text(int token) const override {
    return token < kHint ? std::string(1, "01=."[token]) : fmt::format("h{}", token - kHint);
  }

  Example sample(int length, Rng& rng) const override {
    const bool hinted = options_.hints > 0;
    const int first = hinted ? kHint + uniform(rng, 0, options_.hints - length) : 0;
    std::vector<int> question, segments, answer;
    int parity = 0;
    for (int n = 0; n < length; ++n) {
      const int bit = uniform(rng, 0, 1);
      parity ^= bit;
      if (hinted) question.push_back(first + n);
      question.push_back(bit);
      segments.resize(question.size(), n);
      if (hinted && bit == 1) answer.insert(answer.end(), {first + n, parity});
      if (!hinted) answer.push_back(parity);
    }
    answer.push_back(kEnd);
    if (!options_.scratchpad) answer = {parity};
    const int slots = !options_.scratchpad ? 1 : hinted ? 2 * length + 1 : length + 1;
    Example example = ask_terminated(layout_, std::move(question), kBlank, std::move(answer), slots, kEnd);
    set_segments(example, std::move(segments), length);
    return example;
  }

 private:
  static constexpr int kBlank = 2, kEnd = 3, kHint = 4;
};

const RegisterTask<IndexHintParity> registered{kInfo};

}  // namespace
}  // namespace posbench::index_hint_parity
