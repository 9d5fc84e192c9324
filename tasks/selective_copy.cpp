// Selective copy: the data tokens in order, without the blanks between them.
//
//   3 B B 2 1 B 1 B 0 |   ->   3 2 1 1 0
//
// Data tokens are uniform, and so is the set of their positions among the blanks. There are `blanks` blanks for
// each data token. The distance is the number of tokens from the target position of a data token back to that
// token: it grows with the blanks, while the number of data tokens between the two does not.
//
// Golovneva et al. 2024, arXiv:2405.18719, Table 2: 256 data tokens (unconfirmed), and 256, 128 or 512 blanks; we
// infer that its error is of whole sequences. Their vocabulary is not stated; 16 data tokens are ours.
#include <cmath>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class SelectiveCopy final : public Task {
 public:
  struct Options {
    Integers length{16};
    double blanks = 1;
    int tokens = 16;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 10000, "data tokens in a sequence");
      o.number("blanks", blanks, 0, 1000, "blanks for each data token");
      o.integer("tokens", tokens, 2, 10000, "different data tokens");
    }
  };

  SelectiveCopy(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return options_.tokens + 2; }
  double chance_level() const override { return 1.0 / options_.tokens; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    return token == blank() ? "B" : token == separator() ? "|" : std::to_string(token);
  }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> data = uniform_tokens(rng, length, 0, options_.tokens - 1);
    const int positions = length + static_cast<int>(std::lround(options_.blanks * length));
    const std::vector<int> position = distinct(rng, positions, length);
    std::vector<int> question(positions, blank()), distances;
    for (int n = 0; n < length; ++n) {
      question[position[n]] = data[n];
      distances.push_back(positions + n - position[n]);
    }
    Example example = ask(layout_, std::move(question), separator(), data);
    example.distances = std::move(distances);
    return example;
  }

 private:
  int blank() const { return options_.tokens; }
  int separator() const { return options_.tokens + 1; }

  Options options_;
  Layout layout_;
};

const RegisterTask<SelectiveCopy> registered{{
    .name = "selective_copy",
    .family = "selective copy",
    .definition = "Reads data tokens with blanks among them, and answers the data tokens in order.",
    .takes = "Attention has to find the next data token after any number of blanks: a position in data "
             "tokens, not in all tokens.",
    .source = "Golovneva et al. 2024, arXiv:2405.18719, Table 2",
    .published_name = "selective copy",
    .published = "Published at 16 times our default length with the same ratios of blanks to data tokens. The "
                 "published error is, by inference, of whole sequences; the vocabulary is ours.",
    .length_unit = "data tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "as many blanks as data tokens"},
               {"ood_dense", {{"blanks", "0.5"}}, "half as many blanks, for the same data tokens"},
               {"ood_sparse", {{"blanks", "2"}}, "twice as many blanks, for the same data tokens"}},
}};

}  // namespace
}  // namespace posbench
