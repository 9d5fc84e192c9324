// Addition with index hints: each digit follows a hint that names its position.
//
//   h4 0 h5 5 h6 7 + h4 0 h5 6 h6 8 =   ->   h6 5 h5 2 h4 1 .              57 + 68 = 125
//   h4 0 h5 5 h6 7 + h4 0 h5 6 h6 8 =   ->   h6 5 1 h5 2 1 h4 1 0 .        scratchpad=true: each digit's carry
//   0 5 7 + 0 6 8 =                     ->   5 2 1 .                       hints=0
//   h4 0 h5 5 h6 7 + h4 0 h5 6 h6 8 =   ->   h4 1 h5 2 h6 5 .              reversed=false
//
// Zeros pad both numbers to one digit more than the longer has, so that each digit of the sum has two digits of
// the operands. Hints are consecutive from a uniform start, so that long numbers use hints that short ones
// trained. Operands are drawn as in `addition`.
//
// Predicted to generalize to longer numbers with hints and a reversed sum, because it then has a short RASP-L
// program, and worse otherwise (Zhou et al. 2023, arXiv:2310.16028; code apple/ml-np-rasp, examples/add.py and
// test_add.py, whose prompt this is).
#include <algorithm>
#include <stdexcept>

#include "tasks/parts/digits.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class IndexHintAddition final : public Task {
 public:
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

  IndexHintAddition(const Options& options, Layout layout) : options_(options), layout_(layout) {
    if (options.hints > 0 && options.length.max() >= options.hints) {
      throw std::invalid_argument(
          fmt::format("task 'index_hint_addition': length {} needs {} hints, not {}; raise hints or lower length",
                      options.length.max(), options.length.max() + 1, options.hints));
    }
  }

  int vocabulary() const override { return kHint + options_.hints; }
  double chance_level() const override { return 1.0 / (vocabulary() - 2); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    return token < kHint ? std::string(1, "0123456789+=."[token]) : fmt::format("h{}", token - kHint);
  }

  Example sample(int length, Rng& rng) const override {
    const int pair = uniform(rng, 0, 2 * length - 2), count = length + 1;
    Digits a = draw(rng, std::min(pair + 1, length)), b = draw(rng, std::min(2 * length - 1 - pair, length));
    Digits sum = add(a, b, 10);
    for (Digits* number : {&a, &b, &sum}) number->resize(count, 0);
    const int first = options_.hints > 0 ? kHint + uniform(rng, 0, options_.hints - count) : 0;

    std::vector<int> question, digit_positions, segments, answer, answer_digit_positions;
    for (const Digits* number : {&a, &b}) {
      for (int n = count - 1; n >= 0; --n) append(first, count, n, (*number)[n], question, digit_positions);
      if (number == &a) append_sign(question, digit_positions);
      segments.resize(question.size(), number == &b);
    }
    for (int m = 0; m < count; ++m) {
      const int n = options_.reversed ? m : count - 1 - m;
      append(first, count, n, sum[n], answer, answer_digit_positions);
      if (!options_.scratchpad) continue;
      answer.push_back(carry(a, b, sum, n));
      answer_digit_positions.push_back(0);
    }
    answer.push_back(kEnd);
    answer_digit_positions.push_back(0);
    Example example = ask(layout_, std::move(question), kBlank, answer);
    segments.resize(example.tokens.size(), 2);
    example.segments = std::move(segments);
    set_digit_positions(layout_, std::move(digit_positions), answer_digit_positions, example);
    return example;
  }

 private:
  static constexpr int kPlus = 10, kBlank = 11, kEnd = 12, kHint = 13;

  static Digits draw(Rng& rng, int digits) {
    Digits number = uniform_tokens(rng, digits, 0, 9);
    if (digits > 1) number.back() = uniform(rng, 1, 9);
    return number;
  }

  /// The carry out of digit n, counted from 0 at the least significant digit.
  static int carry(const Digits& a, const Digits& b, const Digits& sum, int n) {
    const int into = (sum[n] - a[n] - b[n] + 20) % 10;
    return (a[n] + b[n] + into) / 10;
  }

  void append(int first, int count, int n, int digit, std::vector<int>& tokens,
              std::vector<int>& digit_positions) const {
    if (options_.hints > 0) {
      tokens.push_back(first + count - 1 - n);
      digit_positions.push_back(0);
    }
    tokens.push_back(digit);
    digit_positions.push_back(n + 1);
  }

  static void append_sign(std::vector<int>& tokens, std::vector<int>& digit_positions) {
    tokens.push_back(kPlus);
    digit_positions.push_back(0);
  }

  Options options_;
  Layout layout_;
};

const RegisterTask<IndexHintAddition> registered{{
    .name = "index_hint_addition",
    .family = "length_generalization",
    .definition = "Reads two numbers, each digit after a hint that names its position, and answers their sum in the "
                  "same form, its least significant digit first.",
    .takes = "The hints name the digits that each step needs, so attention finds them by content, and at any "
             "length.",
    .source = "Zhou et al. 2023, arXiv:2310.16028; code apple/ml-np-rasp",
    .published_name = "Addition with index hints, forward and reverse",
    .published = "Theory predicts that it generalizes to longer numbers with hints, and better with a "
                 "reversed sum. The prompt and the answer are those of the released program; its begin token is left "
                 "out. The paper's text could not be read: the scratchpad of carries, the lengths and the splits "
                 "are ours.",
    .length_unit = "digits",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length2", {{"length", "1x..2x"}}, "up to twice the trained lengths"},
               {"ood_length3", {{"length", "2x..3x"}}, "up to three times the trained lengths"}},
    .largest_answer_fraction = 0.11,
}};

}  // namespace
}  // namespace posbench
