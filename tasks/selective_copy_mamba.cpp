// Selective copy as Mamba states it: the data tokens in order, read at one marker for each.
//
//   _ 6 _ _ 6 7 _ 7 5 _ | | | | |   ->   6 6 7 7 5
//
// Data tokens are uniform, and so is the set of their positions among the blanks, with `blanks` blanks for each.
// There is no teacher forcing in either layout, as published. The distance is the number of tokens from the target
// marker of a data token back to that token.
//
// Gu & Dao 2023, arXiv:2312.00752, section 4.1.1 and appendix E.1: 16 data tokens out of 14 and length 4096. It
// derives from the copying data of state-spaces/s4, where the blanks are in addition to the 16 data tokens and 16
// markers: blanks=256.
#include <cmath>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class SelectiveCopyMamba final : public Task {
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

  SelectiveCopyMamba(const Options& options, Layout) : options_(options) {}

  int vocabulary() const override { return options_.tokens + 2; }
  double chance_level() const override { return 1.0 / options_.tokens; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    return token == kBlank ? "_" : token == marker() ? "|" : std::to_string(token);
  }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> data = uniform_tokens(rng, length, 1, options_.tokens);
    const int positions = length + static_cast<int>(std::lround(options_.blanks * length));
    const std::vector<int> position = distinct(rng, positions, length);
    std::vector<int> question(positions, kBlank), distances;
    for (int n = 0; n < length; ++n) {
      question[position[n]] = data[n];
      distances.push_back(positions + n - position[n]);
    }
    Example example = ask(Layout::slots, std::move(question), marker(), data);
    example.distances = std::move(distances);
    return example;
  }

 private:
  static constexpr int kBlank = 0;
  int marker() const { return options_.tokens + 1; }

  Options options_;
};

const RegisterTask<SelectiveCopyMamba> registered{{
    .name = "selective_copy_mamba",
    .family = "selective copy",
    .definition =
        "Reads data tokens with blanks among them, and answers the data tokens in order, one at each of as many "
        "markers, without teacher forcing.",
    .takes = "The model has to find the n-th data token among blanks by its number alone: a position in data "
             "tokens, not in all tokens.",
    .source = "Gu & Dao 2023, arXiv:2312.00752, section 4.1.1 and appendix E.1",
    .published_name = "selective copying",
    .published =
        "16 data tokens and 4096 blanks (blanks=256), accuracy per token. Ours is shorter, and adds the splits.",
    .length_unit = "data tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "two blanks for each data token"},
               {"ood_dense", {{"blanks", "1"}}, "half as many blanks, for the same data tokens"},
               {"ood_sparse", {{"blanks", "4"}}, "twice as many blanks, for the same data tokens"},
               {"ood_length", {{"length", "2x"}}, "twice as many data tokens, at the trained density"}},
}};

}  // namespace
}  // namespace posbench
