// Follows several induction steps: find the previous occurrence of the token, take the token after it, and repeat
// from there.
//
//   hops2 b a e b c a b e b d e a        target at the last a: c, by a b (7th token), b c (5th token)
//
// Tokens are uniform, except that neighbors differ, and the number of hops is uniform over `hops`. A position
// reads a token, never an answer, so both layouts are the same. The distance is the number of positions back to
// the end of the hops, and 0 for ~.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/registry.h"

namespace posbench::k_hop {
namespace {

const TaskInfo kInfo{
    .name = "k_hop",
    .family = "induction",
    .version = 2,
    .aspects = {Aspect::recall},
    .definition =
        "The model reads a number of hops and tokens, and answers at each position the token where this "
        "number of successive induction steps ends, or ~ if one of them finds nothing.",
    .requirement =
        "Attention has to find the last occurrence of a token and read the token after it, as many times "
        "as there are hops.",
    .source = "Sanford, Hsu, Telgarsky 2024, arXiv:2402.09268, section 4",
    .published_name = "k-hop induction heads",
    .published =
        "Theory predicts that floor(log2 k) + 2 layers are enough and, as far as is known, needed for k hops. "
        "The paper trains and tests on 4 tokens, 100 positions and 0 to 16 hops, where models of 2 to 6 layers "
        "learn as many hops as predicted. The authors' code, chsanford/hop-induction-heads, gives 100 positions "
        "as 98 tokens after the number of hops, and answers ~ whenever a step finds nothing, as here. Here there "
        "are 64 positions and one hop, which two layers can follow. The splits are ours.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained length and hops"},
               {"ood_length2", {{"length", "2x"}}, "twice the trained length"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained length"}},
    .largest_answer_fraction = 0.25,
    .shortcuts = {.token = 0.78, .neighbor = 0.35, .count = 0.28, .position = 0.29},
};

struct Options {
  Integers length{64};
  Integers hops{1};
  int symbols = 4;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, 100000, "tokens, without the first");
    o.integers("hops", hops, 1, 100, "hops");
    o.integer("symbols", symbols, 2, 26, "different tokens");
  }
};

class KHop final : public BasicTask<Options> {
 public:
  using BasicTask::BasicTask;
  int vocabulary() const override { return nothing() + 1 + options_.hops.max(); }
  double chance_level() const override { return 1.0 / (options_.symbols + 1); }
  std::string token_text(int token) const override {
    if (token < nothing()) return std::string(1, static_cast<char>('a' + token));
    return token == nothing() ? "~" : fmt::format("hops{}", token - nothing());
  }

  Example sample(int length, Rng& rng) const override {
    const int hops = options_.hops.draw(rng);
    Example example{.tokens = {nothing() + hops}, .targets = {kIgnore}};
    std::vector<int> next(1, 0);                  // for each position, the end of one hop from it; 0: none
    std::vector<int> after(options_.symbols, 0);  // for each token, the position after its latest occurrence
    for (int t = 1; t <= length; ++t) {
      const int before = example.tokens.back();
      const int token = t == 1 ? uniform(rng, 0, options_.symbols - 1)
                               : (before + uniform(rng, 1, options_.symbols - 1)) % options_.symbols;
      example.tokens.push_back(token);
      next.push_back(after[token]);
      after[token] = t + 1;
      int position = t;
      for (int hop = 0; hop < hops; ++hop) position = next[position];
      example.targets.push_back(position == 0 ? nothing() : example.tokens[position]);
      example.scored.push_back(t);
      example.distances.push_back(position == 0 ? 0 : t - position);
    }
    example.segments.assign(example.tokens.size(), 0);
    return example;
  }

 private:
  int nothing() const { return options_.symbols; }
};

const RegisterTask<KHop> registered{kInfo};

}  // namespace
}  // namespace posbench::k_hop
