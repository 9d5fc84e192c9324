// Evaluates nested operations on lists of digits.
//
//   [MAX 2 9 [MIN 4 7 ] 0 ] =   ->   9
//
// Operations are the minimum, the maximum, the median (the mean of the middle two, rounded down, if there are two)
// and the sum modulo ten ([SM). The tree starts with one operation, and each further one replaces a uniform digit
// that is nested less than `depth` deep. Each has 2 to `arguments` arguments.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::listops {
namespace {

const TaskInfo kInfo{
    .name = "listops",
    .family = "hierarchical",
    .version = 2,
    .aspects = {Aspect::hierarchy, Aspect::arithmetic},
    .definition = "The model reads nested operations on lists of digits and answers their value.",
    .requirement =
        "Attention has to find which arguments belong to which operation, and the model has "
        "to evaluate from the inside to the outside.",
    .source =
        "Nangia & Bowman 2018, arXiv:1804.06028; Tay et al. 2021, arXiv:2011.04006; code "
        "google-research/long-range-arena",
    .published_name = "ListOps",
    .published =
        "Long Range Arena trains and tests on 500 to 2000 tokens, depth 10 and up to 10 arguments, without the "
        "brackets of pairs. There a tree grows downwards with probability 0.25 and is kept if its length is "
        "right. Here the length is the number of operations, 1 or 2 in training, and each has two arguments. "
        "The splits are ours.",
    .length_unit = "operations",
    .splits = {{"in_distribution", {}, "the trained numbers of operations and arguments"},
               {"ood_length", {{"length", "1x..2.15x"}}, "up to twice the trained operations"},
               {"ood_arguments", {{"arguments", "2x"}}, "longer lists"}},
    .largest_answer_fraction = 0.15,
    .shortcuts = {.token = 0.32, .neighbor = 0.4, .count = 0.29},
};

struct Options {
  Integers length{1, 2};
  int depth = 4, arguments = 2;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 1000, "operations");
    o.integer("depth", depth, 1, 1000, "largest depth of nesting");
    o.integer("arguments", arguments, 2, 100, "largest number of arguments of an operation");
  }
};

class ListOps final : public BasicTask<Options> {
 public:
  ListOps(const Options& options, Layout layout) : BasicTask(options, layout) {
    // With two arguments each, a tree of depth d has at most 2^d - 1 operations.
    if (options.depth < 20 && options.length.max() > (1 << options.depth) - 1) {
      throw InputError(
          fmt::format("task 'listops': depth {} may hold only {} operations, not {}; raise it or lower length",
                      options.depth, (1 << options.depth) - 1, options.length.max()));
    }
  }

  int vocabulary() const override { return kBlank + 1; }
  double chance_level() const override { return 0.1; }
  std::string token_text(int token) const override {
    static const char* const kTexts[] = {"[MIN", "[MAX", "[MED", "[SM", "]", "="};
    return token < kMin ? std::to_string(token) : kTexts[token - kMin];
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
};

const RegisterTask<ListOps> registered{kInfo};

}  // namespace
}  // namespace posbench::listops
