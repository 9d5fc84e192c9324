// Sorting: the same items, in ascending order.
//
//   7 3 11 3 =              ->   3 3 7 11 =              form=single: one token each, with a learned order
//   9 1 , 1 2 0 , 1 5 =     ->   1 5 , 9 1 , 1 2 0 =     form=multi: numbers 10..9999, digit by digit
//
// Items are independent and uniform, and may repeat. The answer ends with a second =, so that the model must also
// learn to stop.
//
// Kazemnejad et al. 2023, arXiv:2305.19466; code McGill-NLP/length-generalization, with 50 single items, and
// numbers from 10 (the paper says 0) to 9999.
#include <algorithm>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class Sorting final : public Task {
 public:
  enum class Form { single, multi };
  struct Options {
    Integers length{1, 8};
    Form form = Form::single;
    int symbols = 20;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 10000, "items to sort");
      o.choice("form", form, {"single", "multi"}, "items of one token, or numbers of two to four digits");
      o.integer("symbols", symbols, 2, 1000, "different items of one token; form=multi has ten digits");
    }
  };

  Sorting(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return options_.form == Form::single ? options_.symbols + 1 : 12; }
  double chance_level() const override { return 1.0 / vocabulary(); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    if (token == vocabulary() - 1) return "=";
    return options_.form == Form::multi && token == kComma ? "," : std::to_string(token);
  }

  Example sample(int length, Rng& rng) const override {
    const bool single = options_.form == Form::single;
    std::vector<int> items =
        single ? uniform_tokens(rng, length, 0, options_.symbols - 1) : uniform_tokens(rng, length, 10, 9999);
    std::vector<int> question = single ? items : digits(items);
    std::sort(items.begin(), items.end());
    std::vector<int> answer = single ? items : digits(items);
    const int equals = vocabulary() - 1;
    answer.push_back(equals);
    return ask(layout_, std::move(question), equals, answer);
  }

 private:
  static constexpr int kComma = 10;

  static std::vector<int> digits(const std::vector<int>& numbers) {
    std::vector<int> tokens;
    for (const int number : numbers) {
      if (!tokens.empty()) tokens.push_back(kComma);
      for (const char digit : std::to_string(number)) tokens.push_back(digit - '0');
    }
    return tokens;
  }

  Options options_;
  Layout layout_;
};

const RegisterTask<Sorting> registered{{
    .name = "sorting",
    .family = "length_generalization",
    .definition = "Reads items and answers them in ascending order, and where they end.",
    .takes = "Attention has to find the next larger item by content; the order of the question does not "
             "matter.",
    .source = "Kazemnejad et al. 2023, arXiv:2305.19466",
    .published_name = "sorting, of single items and of numbers",
    .published = "50 single items, trained on up to 8 of them, tested on 9..16; ours has 20. Numbers (form=multi) "
                 "are from 10 to 9999 as in the code. The answer ends with a separator.",
    .length_unit = "items",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1x..2x"}}, "up to twice the trained lengths"}},
    .largest_answer_fraction = 0.19,
}};

}  // namespace
}  // namespace posbench
