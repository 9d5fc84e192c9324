// ListOps: the value of nested operations on lists of digits.
//
//   [MAX 2 9 [MIN 4 7 ] 0 ] =   ->   9
//
// Operations are the minimum, the maximum, the median (the mean of the middle two, rounded down, if there are two)
// and the sum modulo ten ([SM). The tree starts with one operation; each further one replaces a uniform digit that
// is nested less than `depth` deep. Each has 2 to `arguments` arguments.
//
// Nangia & Bowman 2018, arXiv:1804.06028; in the form of Tay et al. 2021 (Long Range Arena), arXiv:2011.04006;
// code google-research/long-range-arena: 500 to 2000 tokens, depth 10, up to 10 arguments, brackets of pairs
// left out.
#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class ListOps final : public Task {
 public:
  struct Options {
    Integers length{1, 7};
    int depth = 4, arguments = 4;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 1000, "operations");
      o.integer("depth", depth, 1, 1000, "how deep they are nested at most");
      o.integer("arguments", arguments, 2, 100, "most arguments of one");
    }
  };

  ListOps(const Options& options, Layout layout) : options_(options), layout_(layout) {
    // With two arguments each, a tree of depth d has at most 2^d - 1 operations.
    if (options.depth < 20 && options.length.max() > (1 << options.depth) - 1) {
      throw std::invalid_argument(
          fmt::format("task 'listops': depth {} may hold only {} operations, not {}; raise it or lower length",
                      options.depth, (1 << options.depth) - 1, options.length.max()));
    }
  }

  int vocabulary() const override { return kBlank + 1; }
  double chance_level() const override { return 0.1; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    static const char* const signs[] = {"[MIN", "[MAX", "[MED", "[SM", "]", "="};
    return token < kMin ? std::to_string(token) : signs[token - kMin];
  }

  Example sample(int length, Rng& rng) const override {
    std::vector<Node> tree{{.depth = 0}};
    for (int n = 0; n < length; ++n) {
      std::vector<int> open;  // digits that an operation may replace
      for (size_t i = 0; i < tree.size(); ++i) {
        if (tree[i].arguments.empty() && tree[i].depth < options_.depth) open.push_back(static_cast<int>(i));
      }
      const int chosen = open[uniform(rng, 0, static_cast<int>(open.size()) - 1)];
      tree[chosen].token = uniform(rng, kMin, kSum);
      for (int arguments = uniform(rng, 2, options_.arguments); arguments > 0; --arguments) {
        tree[chosen].arguments.push_back(static_cast<int>(tree.size()));
        tree.push_back({.token = uniform(rng, 0, 9), .depth = tree[chosen].depth + 1});
      }
    }
    std::vector<int> question;
    const int value = write(tree, 0, question);
    return ask(layout_, std::move(question), kBlank, {value});
  }

 private:
  static constexpr int kMin = 10, kMax = 11, kMedian = 12, kSum = 13, kClose = 14, kBlank = 15;
  struct Node {
    int token = 0, depth = 0;  // depth: the number of enclosing operations
    std::vector<int> arguments;
  };

  /// Appends the tokens of a node and returns its value.
  static int write(const std::vector<Node>& tree, int node, std::vector<int>& tokens) {
    tokens.push_back(tree[node].token);
    if (tree[node].arguments.empty()) return tree[node].token;
    std::vector<int> values;
    for (const int argument : tree[node].arguments) values.push_back(write(tree, argument, tokens));
    tokens.push_back(kClose);
    std::sort(values.begin(), values.end());
    const size_t middle = values.size() / 2;
    switch (tree[node].token) {
      case kMin:
        return values.front();
      case kMax:
        return values.back();
      case kMedian:
        return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
      default:
        return std::accumulate(values.begin(), values.end(), 0) % 10;
    }
  }

  Options options_;
  Layout layout_;
};

const RegisterTask<ListOps> registered{{
    .name = "listops",
    .family = "hierarchical",
    .definition = "Reads nested operations on lists of digits and answers their value.",
    .takes = "Attention has to tell which arguments belong to which operation, at several depths, and the "
             "model has to evaluate from the inside out.",
    .source = "Nangia & Bowman 2018, arXiv:1804.06028; Tay et al. 2021, arXiv:2011.04006; code "
              "google-research/long-range-arena",
    .published_name = "ListOps",
    .published = "500 to 2000 tokens, depth 10, up to 10 arguments, trained and tested alike. There a tree grows "
                 "downwards with probability 0.25 and is kept where its length is right; ours has a given number of "
                 "operations, its length. The splits are ours.",
    .length_unit = "operations",
    .splits = {{"in_distribution", {}, "the trained numbers of operations and arguments"},
               {"ood_length", {{"length", "1x..2.15x"}}, "up to twice the trained operations"},
               {"ood_arguments", {{"arguments", "8"}}, "longer lists"}},
    .largest_answer_fraction = 0.15,
}};

}  // namespace
}  // namespace posbench
