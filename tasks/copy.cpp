// Copy: the same tokens again.
//
//   3 7 7 1 =   ->   3 7 7 1 =                  form=multi: tokens are independent and uniform
//   3 7 7 1 =   ->   3 7 7 1 = 3 7 7 1 =        form=multi, times=2
//   5 5 5 =     ->   5 5 5 =                    form=repeat: one token, so only the end is hard
//   5 5 5 =     ->   5 5 5 5 5 5 =              form=repeat, times=2
//   8 5 5 5 =   ->   8 8 8 =                    form=replace: another token, named first, as many times
//
// The answer ends with a second separator: without it, `repeat` would have nothing to predict. The number of slots
// must not show where `repeat` and `replace` stop, so they have twice as many as the answer has tokens; slots
// after the end have the separator as target, unscored. `multi` has a slot for each token of the answer.
//
// Kazemnejad et al. 2023, arXiv:2305.19466; code McGill-NLP/length-generalization: copy_multi (100
// tokens), copy_repeat_single, copy_replace_double and their `2x`. The prompt in words ("Copy: ...") is left out.
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class Copy final : public Task {
 public:
  enum class Form { multi, repeat, replace };
  struct Options {
    Integers length{1, 20};
    Form form = Form::multi;
    int times = 1, symbols = 16;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 10000, "tokens to copy");
      o.choice("form", form, {"multi", "repeat", "replace"},
               "uniform tokens, one token, or one replaced by another");
      o.integer("times", times, 1, 2, "how often they are copied");
      o.integer("symbols", symbols, 2, 1000, "different tokens");
    }
  };

  Copy(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return options_.symbols + 1; }
  double chance_level() const override { return 1.0 / vocabulary(); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return token == separator() ? "=" : std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    if (options_.form == Form::multi) {
      const std::vector<int> tokens = uniform_tokens(rng, length, 0, options_.symbols - 1);
      std::vector<int> answer;
      for (int time = 0; time < options_.times; ++time) {
        answer.insert(answer.end(), tokens.begin(), tokens.end());
        answer.push_back(separator());
      }
      return ask(layout_, tokens, separator(), answer);
    }
    const int token = uniform(rng, 0, options_.symbols - 1);
    std::vector<int> question(length, token), answer(options_.times * length, token);
    if (options_.form == Form::replace) {
      const int other = (token + uniform(rng, 1, options_.symbols - 1)) % options_.symbols;
      question.insert(question.begin(), other);
      answer.assign(answer.size(), other);
    }
    answer.push_back(separator());
    const int slots = 2 * static_cast<int>(answer.size());
    return ask_terminated(layout_, std::move(question), separator(), std::move(answer), slots, separator());
  }

 private:
  int separator() const { return options_.symbols; }
  Options options_;
  Layout layout_;
};

const RegisterTask<Copy> registered{{
    .name = "copy",
    .family = "length_generalization",
    .definition = "Reads tokens and answers them again, once or twice, and where they end.",
    .takes = "Each answer token is as far behind its source as the string is long; where a token is unique, "
             "the source is also found by content, just after the last one.",
    .source = "Kazemnejad et al. 2023, arXiv:2305.19466",
    .published_name = "copy_multi, copy_multi_2x, copy_repeat_single, copy_repeat_single_2x, copy_replace_double",
    .published = "100 different tokens, trained on lengths up to 20, tested on 21..40; ours has 16. The prompt in "
                 "words is left out, and the answer ends with a separator.",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.2x/1.4x/1.6x/1.8x/2x"}}, "up to twice the trained lengths"}},
    .largest_answer_fraction = 0.09,
}};

}  // namespace
}  // namespace posbench
