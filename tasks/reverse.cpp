// Reverse: the same tokens, last first.
//
//   3 7 7 1 =   ->   1 7 7 3 =                  form=once
//   3 7 7 1 =   ->   1 7 7 3 = 1 7 7 3 =        form=twice
//   3 7 7 1 =   ->   1 7 7 3 = 3 7 7 1 =        form=then_copy
//
// Tokens are independent and uniform. The answer ends with a second separator, so that the model must also learn
// to stop.
//
// Kazemnejad et al. 2023, arXiv:2305.19466; code McGill-NLP/length-generalization: reverse_multi (100
// tokens), reverse_multi_2x, reverse_then_copy. The prompt in words ("Reverse: ...") is left out.
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class Reverse final : public Task {
 public:
  enum class Form { once, twice, then_copy };
  struct Options {
    Integers length{1, 20};
    Form form = Form::once;
    int symbols = 16;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 10000, "tokens to reverse");
      o.choice("form", form, {"once", "twice", "then_copy"}, "reversed once, twice, or once and then copied");
      o.integer("symbols", symbols, 2, 1000, "different tokens");
    }
  };

  Reverse(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return options_.symbols + 1; }
  double chance_level() const override { return 1.0 / vocabulary(); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return token == separator() ? "=" : std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> tokens = uniform_tokens(rng, length, 0, options_.symbols - 1);
    std::vector<int> answer(tokens.rbegin(), tokens.rend());
    answer.push_back(separator());
    if (options_.form == Form::twice) answer.insert(answer.end(), tokens.rbegin(), tokens.rend());
    if (options_.form == Form::then_copy) answer.insert(answer.end(), tokens.begin(), tokens.end());
    if (options_.form != Form::once) answer.push_back(separator());
    return ask(layout_, tokens, separator(), answer);
  }

 private:
  int separator() const { return options_.symbols; }
  Options options_;
  Layout layout_;
};

const RegisterTask<Reverse> registered{{
    .name = "reverse",
    .family = "length_generalization",
    .definition = "Reads tokens and answers them in reverse order, and where they end.",
    .takes = "The distance from an answer token to its source grows by two from one to the next.",
    .source = "Kazemnejad et al. 2023, arXiv:2305.19466",
    .published_name = "reverse_multi, reverse_multi_2x, reverse_then_copy",
    .published = "100 different tokens, trained on lengths up to 20, tested on 21..40; ours has 16. The prompt in "
                 "words is left out, and the answer ends with a separator.",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.2x/1.4x/1.6x/1.8x/2x"}}, "up to twice the trained lengths"}},
    .largest_answer_fraction = 0.09,
}};

}  // namespace
}  // namespace posbench
