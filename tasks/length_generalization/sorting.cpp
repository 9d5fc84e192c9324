// Sorts uniform items, which may repeat unless distinct=true.
//
//   7 3 11 3 =              ->   3 3 7 11 =              form=single: one token each, with a learned order
//   9 1 , 1 2 0 , 1 5 =     ->   1 5 , 9 1 , 1 2 0 =     form=multi: numbers 10..9999, digit by digit
//
// The answer ends with a second =, so that the model must also learn to stop.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::sorting {
namespace {

const TaskInfo kInfo{
    .name = "sorting",
    .family = "length_generalization",
    .aspects = {Aspect::aggregation},
    .definition = "The model reads items and answers them in ascending order, and then their end.",
    .requirement =
        "Attention has to find the next larger item by content. "
        "The order of the question does not matter.",
    .source = "Kazemnejad et al. 2023, arXiv:2305.19466",
    .published_name = "sorting, of single items and of numbers",
    .published =
        "The paper has 50 single items, trains on up to 8 of them and tests on 9..16; here there are 20. "
        "Numbers (form=multi) are from 10 to 9999 as in the code McGill-NLP/length-generalization; the paper "
        "says that they start at 0. Huang et al. 2024 (arXiv:2410.02140) sort up to 50 of 150 distinct items "
        "(length=1..50,symbols=150,distinct=true). The answer ends with a separator.",
    .length_unit = "items",
    .splits = splits_to_twice_the_length(),
    .largest_answer_fraction = 0.19,
    .shortcuts = {.token = 0.51, .neighbor = 0.27, .count = 0.3, .position = 0.24},
};

enum class SortForm { single, multi };
struct Options {
  Integers length{1, 8};
  SortForm form = SortForm::single;
  int symbols = 20;
  bool distinct = false;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "items to sort");
    o.choice("form", form, {"single", "multi"}, "items of one token, or numbers of two to four digits");
    o.integer("symbols", symbols, 2, 1000, "different items of one token; form=multi has ten digits");
    o.flag("distinct", distinct, "no item occurs twice in a question");
  }
};

class Sorting final : public BasicTask<Options> {
 public:
  Sorting(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.distinct && options.length.max() > different()) {
      throw InputError(fmt::format(
          "task 'sorting': length {} with distinct=true needs as many different items, not {}; lower length{}",
          options.length.max(), different(), options.form == SortForm::single ? " or raise symbols" : ""));
    }
  }

  int vocabulary() const override { return options_.form == SortForm::single ? options_.symbols + 1 : 12; }
  double chance_level() const override { return 1.0 / vocabulary(); }
  std::string token_text(int token) const override {
    if (token == vocabulary() - 1) return "=";
    return options_.form == SortForm::multi && token == kComma ? "," : std::to_string(token);
  }

  Example sample(int length, Rng& rng) const override {
    const bool single = options_.form == SortForm::single;
    const int first = single ? 0 : kFirstNumber;
    std::vector<int> items = options_.distinct ? distinct_ids(rng, first, different(), length)
                                               : uniform_tokens(rng, length, first, first + different() - 1);
    std::vector<int> question = single ? items : digits(items);
    std::sort(items.begin(), items.end());
    std::vector<int> answer = single ? items : digits(items);
    const int equals = vocabulary() - 1;
    answer.push_back(equals);
    return ask(layout_, std::move(question), equals, answer);
  }

 private:
  static constexpr int kComma = 10;
  static constexpr int kFirstNumber = 10, kNumbers = 9990;  // 10 .. 9999

  /// Returns the number of different items.
  int different() const { return options_.form == SortForm::single ? options_.symbols : kNumbers; }

  static std::vector<int> digits(const std::vector<int>& numbers) {
    std::vector<int> tokens;
    for (const int number : numbers) {
      if (!tokens.empty()) tokens.push_back(kComma);
      for (const char digit : std::to_string(number)) tokens.push_back(digit - '0');
    }
    return tokens;
  }
};

const RegisterTask<Sorting> registered{kInfo};

}  // namespace
}  // namespace posbench::sorting
