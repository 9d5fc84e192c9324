// Selective copying of MAD: the data tokens in order, without the blanks before them.
//
//   3 _ _ 7 _ 0 | _ _ _   ->   3 7 0        targets at the three last blanks
//
// Each blank is put before a uniformly chosen data token, so the last data token is always directly before the
// marker. There are `blanks` blanks for each data token. There is no teacher forcing in either layout, as
// published. The distance is the number of tokens from the target position of a data token back to that token.
//
// Poli et al. 2024, arXiv:2403.17844; code athms/mad-lab: 14 data ids, 16 data tokens, 256 tokens, which leaves
// 223 blanks before the marker: blanks=13.9375.
#include <cmath>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class MadSelectiveCopying final : public Task {
 public:
  struct Options {
    Integers length{16};
    double blanks = 2;
    int tokens = 14;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 10000, "data tokens in a sequence");
      o.number("blanks", blanks, 0, 1000, "blanks for each data token");
      o.integer("tokens", tokens, 2, 10000, "different data tokens");
    }
  };

  MadSelectiveCopying(const Options& options, Layout) : options_(options) {}

  int vocabulary() const override { return options_.tokens + 2; }
  double chance_level() const override { return 1.0 / options_.tokens; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    return token == blank() ? "_" : token == marker() ? "|" : std::to_string(token);
  }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> data = uniform_tokens(rng, length, 0, options_.tokens - 1);
    const int blanks = static_cast<int>(std::lround(options_.blanks * length)), positions = length + blanks;
    std::vector<int> before(length, 0);  // the number of blanks directly before data token n
    for (int b = 0; b < blanks; ++b) ++before[uniform(rng, 0, length - 1)];
    std::vector<int> question, distances;
    for (int n = 0; n < length; ++n) {
      question.insert(question.end(), before[n], blank());
      distances.push_back(positions + 1 + n - static_cast<int>(question.size()));
      question.push_back(data[n]);
    }
    question.push_back(marker());
    Example example = ask(Layout::slots, std::move(question), blank(), data);
    example.distances = std::move(distances);
    return example;
  }

 private:
  int blank() const { return options_.tokens; }
  int marker() const { return options_.tokens + 1; }

  Options options_;
};

const RegisterTask<MadSelectiveCopying> registered{{
    .name = "mad_selective_copying",
    .family = "selective copy",
    .definition = "Reads data tokens with blanks before them and a marker, and answers the data tokens in order, "
                  "one at each of as many blanks, without teacher forcing.",
    .takes = "The model has to find the n-th data token among blanks by its number alone: a position in data "
             "tokens, not in all tokens.",
    .source = "Poli et al. 2024, arXiv:2403.17844; code athms/mad-lab",
    .published_name = "selective copying",
    .published = "16 data tokens and 223 blanks (blanks=13.9375), trained and tested alike; ours has fewer "
                 "blanks, and adds the splits.",
    .length_unit = "data tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "two blanks for each data token"},
               {"ood_dense", {{"blanks", "1"}}, "half as many blanks, for the same data tokens"},
               {"ood_sparse", {{"blanks", "4"}}, "twice as many blanks, for the same data tokens"},
               {"ood_length", {{"length", "2x"}}, "twice as many data tokens, at the trained density"}},
}};

}  // namespace
}  // namespace posbench
