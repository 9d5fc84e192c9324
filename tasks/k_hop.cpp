// K-hop induction heads: find the previous occurrence of the token, take the token after it, and repeat from
// there.
//
//   hops2 b a e b c a b e b d e a        target at the last a: c, by a b (7th token), b c (5th token)
//
// One hop from a position goes to the token after the nearest earlier occurrence of the same token: there `a` was
// followed by b, and `b` before that by c. The first token gives the number of hops, uniform over `hops`. The
// target of every position is the token where the hops end, or ~ if one of them finds nothing. Tokens are uniform,
// except that neighbours differ. There is no teacher forcing, so both layouts are the same. The distance is the
// number of positions from the position back to the end of the hops; 0 for ~.
//
// Sanford, Hsu, Telgarsky 2024, arXiv:2402.09268, section 4: floor(log2 k) + 2 layers are enough and, as far as is
// known, needed; 4 tokens, 100 positions, 0 to 16 hops, where 2 to 6 layers learn as many hops as that predicts.
#include "tasks/registry.h"

namespace posbench {
namespace {

class KHop final : public Task {
 public:
  struct Options {
    Integers length{64};
    Integers hops{1, 4};
    int symbols = 4;
    void describe(OptionTable& o) {
      o.integers("length", length, 2, 100000, "tokens, without the first");
      o.integers("hops", hops, 1, 100, "hops");
      o.integer("symbols", symbols, 2, 26, "different tokens");
    }
  };

  KHop(const Options& options, Layout) : options_(options) {}

  int vocabulary() const override { return nothing() + 1 + options_.hops.max(); }
  double chance_level() const override { return 1.0 / (options_.symbols + 1); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    if (token < nothing()) return std::string(1, static_cast<char>('a' + token));
    return token == nothing() ? "~" : fmt::format("hops{}", token - nothing());
  }

  Example sample(int length, Rng& rng) const override {
    const int hops = options_.hops.draw(rng);
    Example example{.tokens = {nothing() + hops}, .targets = {kIgnore}};
    std::vector<int> next(1, 0);                  // for each position, where one hop from it ends; 0: nowhere
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
  Options options_;
};

const RegisterTask<KHop> registered{{
    .name = "k_hop",
    .family = "induction",
    .definition = "Reads tokens and answers at each position the token where a given number of successive induction "
                  "steps ends.",
    .takes = "Attention has to find the last occurrence of a token and read the token after it, several times "
             "in a row.",
    .source = "Sanford, Hsu, Telgarsky 2024, arXiv:2402.09268, section 4",
    .published_name = "k-hop induction heads",
    .published = "Theory predicts that floor(log2 k) + 2 layers are needed for k hops. 4 tokens, 100 positions, 0 to "
                 "16 hops, trained and tested alike; ours has 64 positions and 1 to 4 hops, and the same token, ~, "
                 "wherever a step finds nothing. The splits are ours.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained length and hops"},
               {"ood_length2", {{"length", "2x"}}, "twice the trained length"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained length"}},
    .largest_answer_fraction = 0.25,
}};

}  // namespace
}  // namespace posbench
