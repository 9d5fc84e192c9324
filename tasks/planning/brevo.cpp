// Lists a node and all its ancestors, each after those that it depends on.
//
//   4 7 | 1 4 | 1 7 | 9 3 / 7 =   ->   1 4 7        1 -> 4 -> 7 and 1 -> 7
//
// The graph is drawn as in the published code. The first nodes, a uniform number of 1 to (n - 1) / 4 + 1, have no
// parents. Each other has a uniform number of parents, 1 to `degree`, among the nodes before it with fewer than
// `degree` children. The last node is asked for. Ids are uniform, and edges are in random order. If several nodes
// may come next in the answer, the one with the smallest id does.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/parts/graphs.h"
#include "tasks/registry.h"

namespace posbench::brevo {
namespace {

const TaskInfo kInfo{
    .name = "brevo",
    .family = "planning",
    .aspects = {Aspect::recall, Aspect::order},
    .definition =
        "The model reads the edges of an acyclic graph in random order and a node, and answers all its ancestors, each "
        "after those that it depends on, and the node.",
    .requirement =
        "Attention has to follow edges backwards before the first answer, along several paths at once, and then find "
        "the nodes whose parents are all answered.",
    .source = "Allen-Zhu 2025, arXiv:2512.17351; code facebookresearch/PhysicsLM4, data-synthetic-pretrain/Brevo",
    .published_name = "Brevo",
    .published =
        "The code has graphs of 3 to 110 nodes, small ones more often, with a token for each node (Brevo1), or of 3 to "
        "50 nodes with names of 2 to 4 tokens (Brevo2). Every topological order of the ancestors is right there; here "
        "the answer is one of them, which ids decide. The graphs have the same distribution. Each node has a token, "
        "bars are between edges, and the splits are ours.",
    .length_unit = "nodes",
    .splits = {{"in_distribution", {}, "the trained graphs"},
               {"ood_length", {{"length", "1x..1.5x"}}, "more nodes"},
               {"ood_chain", {{"degree", "1"}}, "one parent at most, so that the ancestors are a chain"}},
    .shortcuts = {.token = 0.36, .neighbor = 0.33, .count = 0.29},
    .learnability = Learnability::open,
    .learnability_note =
        "With rope, seed 0 and 12,000 steps at a learning rate of 3e-3, a model of the quick profile has 0.44 of the "
        "sequences right, and 0.87 with length=3..4. With length=3..4, four layers and 8,000 steps it has 0.98.",
};

struct Options {
  Integers length{3, 6};
  int degree = 4, nodes = 20;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, 1000, "nodes of the graph");
    o.integer("degree", degree, 1, 100, "largest number of parents, and of children, of a node");
    o.integer("nodes", nodes, 2, 10000, "ids that nodes are drawn from");
  }
};

class Brevo final : public BasicTask<Options> {
 public:
  Brevo(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.length.max() <= options.nodes) return;
    throw InputError(fmt::format("task 'brevo': length {} needs as many ids, not {}; raise nodes",
                                 options.length.max(), options.nodes));
  }

  int vocabulary() const override { return options_.nodes + 3; }
  int answers() const override { return options_.nodes; }
  double chance_level() const override { return 1.0 / options_.nodes; }
  std::string token_text(int token) const override {
    return token < options_.nodes ? std::to_string(token) : std::string(1, "|/="[token - options_.nodes]);
  }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> ids = distinct_ids(rng, 0, options_.nodes, length);
    const std::vector<std::vector<int>> parents = draw_parents(length, rng);
    std::vector<std::pair<int, int>> edges;
    for (int node = 0; node < length; ++node) {
      for (const int parent : parents[node]) edges.emplace_back(ids[parent], ids[node]);
    }
    return ask_about_edges(layout_, std::move(edges), {ids.back()}, options_.nodes, answer(ids, parents), rng);
  }

 private:
  /// Returns the parents of each node, which are before it.
  std::vector<std::vector<int>> draw_parents(int nodes, Rng& rng) const {
    std::vector<std::vector<int>> parents(nodes);
    std::vector<int> children(nodes, 0);
    for (int node = uniform(rng, 1, (nodes - 1) / 4 + 1); node < nodes; ++node) {
      std::vector<int> possible;
      for (int other = 0; other < node; ++other) {
        if (children[other] < options_.degree) possible.push_back(other);
      }
      const int available = static_cast<int>(possible.size());  // at least 1: the node before has no children yet
      for (const int n : sample_distinct(rng, available, uniform(rng, 1, std::min(available, options_.degree)))) {
        parents[node].push_back(possible[n]);
        ++children[possible[n]];
      }
    }
    return parents;
  }

  /// Returns the ids of the last node and its ancestors in the order of the answer.
  static std::vector<int> answer(const std::vector<int>& ids, const std::vector<std::vector<int>>& parents) {
    const int nodes = static_cast<int>(ids.size());
    std::vector<int> left(nodes, -1);  // parents that are not answered yet; -1: answered, or not an ancestor
    left.back() = 0;
    for (int node = nodes - 1; node >= 0; --node) {
      if (left[node] < 0) continue;
      left[node] = static_cast<int>(parents[node].size());
      for (const int parent : parents[node]) left[parent] = 0;
    }
    std::vector<int> answer;
    while (left.back() >= 0) {
      int next = -1;
      for (int node = 0; node < nodes; ++node) {
        if (left[node] == 0 && (next < 0 || ids[node] < ids[next])) next = node;
      }
      answer.push_back(ids[next]);
      left[next] = -1;
      for (int node = next + 1; node < nodes; ++node) {
        if (left[node] > 0 && std::ranges::count(parents[node], next) > 0) --left[node];
      }
    }
    return answer;
  }
};

const RegisterTask<Brevo> registered{kInfo};

}  // namespace
}  // namespace posbench::brevo
