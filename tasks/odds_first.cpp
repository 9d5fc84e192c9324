// Odds first: every other bit, then the ones between.   A context-sensitive language.
//
//   0 0 1 1 0 1 0 1 _   ->   0 1 1 1 0 1 0 0        order=code: the second, fourth, ... bit first
//   0 0 1 1 0 1 0 1 _   ->   0 1 0 0 0 1 1 1        order=paper: the first, third, ... bit first
//
// Deletang et al. 2023, arXiv:2207.02098, section 4. The paper counts from one and its code from zero; the code
// made the published numbers, so its order is the default.
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class OddsFirst final : public Task {
 public:
  enum class Order { code, paper };
  struct Options {
    Integers length{1, 20};
    Order order = Order::code;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 10000, "bits");
      o.choice("order", order, {"code", "paper"},
               "first the 2nd, 4th, ... bits (code) or the 1st, 3rd, ... (paper)");
    }
  };

  OddsFirst(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 3; }  // 0, 1, _
  int answers() const override { return 2; }
  double chance_level() const override { return 0.5; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return token == kBlank ? "_" : std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> bits = uniform_tokens(rng, length, 0, 1);
    const int first = options_.order == Order::code ? 1 : 0;
    std::vector<int> answer;
    for (const int start : {first, 1 - first}) {
      for (int i = start; i < length; i += 2) answer.push_back(bits[i]);
    }
    return ask(layout_, bits, kBlank, answer);
  }

 private:
  static constexpr int kBlank = 2;
  Options options_;
  Layout layout_;
};

const RegisterTask<OddsFirst> registered{{
    .name = "odds_first",
    .family = "chomsky/context_sensitive",
    .definition = "Reads uniform bits and answers every other one of them, then the ones between.",
    .takes = "Answers come from every other position, first the odd and then the even ones: twice as many "
             "positions on for each answer.",
    .source = "Deletang et al. 2023, arXiv:2207.02098, section 4",
    .published_name = "Odds First",
    .published = "Trained on lengths 1..40, scored on 41..500; by default ours are 1..20 and 21..100. The order "
                 "is the code's; order=paper is the paper's.",
    .length_unit = "bits",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.5x/2x/3x/4x/5x"}}, "longer than trained"}},
}};

}  // namespace
}  // namespace posbench
