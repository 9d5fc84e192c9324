// Adds two decimal numbers whose digits follow hints that name their positions.
//
//   h4 0 h5 5 h6 7 + h4 0 h5 6 h6 8 =   ->   h6 5 h5 2 h4 1 .              57 + 68 = 125
//   h4 0 h5 5 h6 7 + h4 0 h5 6 h6 8 =   ->   h6 5 1 h5 2 1 h4 1 0 .        scratchpad=true: with carries
//   0 5 7 + 0 6 8 =                     ->   5 2 1 .                       hints=0
//   h4 0 h5 5 h6 7 + h4 0 h5 6 h6 8 =   ->   h4 1 h5 2 h6 5 .              reversed=false
//
// decimal_operands() draws the operands. Zeros pad both numbers to one digit more than the longer has, so that
// each digit of the sum has two digits of the operands. Hints are consecutive from a uniform start, so that long
// numbers use hints that short ones trained.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/digits.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::index_hint_addition {
namespace {

const TaskInfo kInfo{
    .name = "index_hint_addition",
    .family = "length_generalization",
    .aspects = {Aspect::arithmetic},
    .definition =
        "The model reads two numbers, each digit after a hint that names its position, and answers their sum in "
        "the same form, its least significant digit first.",
    .requirement =
        "The hints name the digits that each step needs, so attention finds them by content and at any length.",
    .source = "Zhou et al. 2023, arXiv:2310.16028; code apple/ml-np-rasp",
    .published_name = "Addition with index hints, forward and reverse",
    .published =
        "Theory predicts that addition generalizes to longer numbers with hints and a reversed sum, because it "
        "then has a short RASP-L program, and less well otherwise. "
        "The prompt and the answer are those of the released program (examples/add.py and test_add.py); its "
        "begin token is left out. The text of the paper could not be read: the scratchpad of carries, the "
        "lengths and the splits are ours.",
    .length_unit = "digits",
    .splits = splits_to_three_times_the_length(),
    .largest_answer_fraction = 0.11,
    .shortcuts = {.token = 0.5, .count = 0.13, .position = 0.2},
};

struct Options {
  Integers length{1, 8};
  int hints = 32;
  bool reversed = true, scratchpad = false;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 1000, "digits of the longer operand");
    o.integer("hints", hints, 0, 10000, "number of different hints; 0: digits without hints");
    o.flag("reversed", reversed, "the sum has its least significant digit first");
    o.flag("scratchpad", scratchpad, "the carry follows each digit of the sum");
  }
};

class IndexHintAddition final : public BasicTask<Options> {
 public:
  IndexHintAddition(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.hints > 0 && options.length.max() >= options.hints) {
      throw InputError(
          fmt::format("task 'index_hint_addition': length {} needs {} hints, not {}; raise hints or lower length",
                      options.length.max(), options.length.max() + 1, options.hints));
    }
  }

  int vocabulary() const override { return kHint + options_.hints; }
  double chance_level() const override { return 1.0 / (vocabulary() - 2); }
  std::string token_text(int token) const override {
    return token < kHint ? std::string(1, "0123456789+=."[token]) : fmt::format("h{}", token - kHint);
  }

  Example sample(int length, Rng& rng) const override {
    auto [a, b] = decimal_operands(rng, length);
    const int count = length + 1;
    Digits sum = add(a, b, 10);
    for (Digits* number : {&a, &b, &sum}) number->resize(count, 0);
    const int last_hint = options_.hints > 0 ? kHint + uniform(rng, 0, options_.hints - count) + count - 1 : 0;

    DigitTokens question, answer;
    std::vector<int> segments;
    for (const Digits* number : {&a, &b}) {
      for (int n = count - 1; n >= 0; --n) append(last_hint, n, (*number)[n], question);
      if (number == &a) question.append(kPlus);
      segments.resize(question.tokens.size(), number == &b);
    }
    for (int m = 0; m < count; ++m) {
      const int n = options_.reversed ? m : count - 1 - m;
      append(last_hint, n, sum[n], answer);
      if (options_.scratchpad) answer.append(carry(a, b, sum, n));
    }
    answer.append(kEnd);
    Example example = ask(layout_, std::move(question.tokens), kBlank, answer.tokens);
    set_segments(example, std::move(segments), 2);
    set_digit_positions(layout_, std::move(question.positions), answer.positions, example);
    return example;
  }

 private:
  static constexpr int kPlus = 10, kBlank = 11, kEnd = 12, kHint = 13;

  /// Returns the carry out of digit n, counted from 0 at the least significant digit.
  static int carry(const Digits& a, const Digits& b, const Digits& sum, int n) {
    const int into = (sum[n] - a[n] - b[n] + 20) % 10;
    return (a[n] + b[n] + into) / 10;
  }

  /// Appends the hint of digit n, and the digit. `last_hint` is the hint of the least significant digit.
  void append(int last_hint, int n, int digit, DigitTokens& tokens) const {
    if (options_.hints > 0) tokens.append(last_hint - n);
    tokens.append(digit, n + 1);
  }
};

const RegisterTask<IndexHintAddition> registered{kInfo};

}  // namespace
}  // namespace posbench::index_hint_addition
