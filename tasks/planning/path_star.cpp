// Finds the arm of a star-shaped graph that ends at a given node.
//
//   2 8 | 5 2 | 5 9 | 9 3 / 5 8 =   ->   8 2 5
//
// `degree` arms of `length` nodes, the start included, go out from the start, and all nodes are distinct. Edges
// are in random order, followed by the start and the end of one arm. The answer goes from the end to the start.
// With reversed=false it goes from the start, where the first step is hard.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/parts/graphs.h"
#include "tasks/registry.h"

namespace posbench::path_star {
namespace {

const TaskInfo kInfo{
    .name = "path_star",
    .family = "planning",
    .version = 2,
    .aspects = {Aspect::recall},
    .definition =
        "The model reads the edges of a star-shaped graph in random order, its start and the end of an arm, and "
        "answers the nodes of that arm.",
    .requirement =
        "Each node follows from the edge that ends in the node before. With reversed=false the second node "
        "follows only from the end of the arm, by as many steps back along the edges as the arm is long; with "
        "teacher forcing all later nodes follow from the node before, and training learns these.",
    .source = "Bachmann & Nagarajan 2024, arXiv:2403.06963; code gregorbachmann/Next-Token-Failures",
    .published_name = "path-star graph, G(degree, length)",
    .published =
        "The paper has 50 nodes, degree/length 2/5, 2/2, 2/3 and 5/3, and 200 000 graphs, trained and tested "
        "alike, and the arm is answered from its start (reversed=false). In this order next-token training stays at an "
        "accuracy of 1 / degree at the second node. "
        "Commas between nodes are left out. Slots (evaluation.layout) are similar to the teacherless training "
        "of the paper. The splits are ours.",
    .length_unit = "nodes of an arm",
    .splits = {{"in_distribution", {}, "the trained graphs"},
               {"ood_degree", {{"degree", "3"}}, "more arms"},
               {"ood_length", {{"length", "1.6x"}}, "longer arms"}},
    .shortcuts = {.token = 0.25, .neighbor = 0.18, .count = 0.09},
};

struct Options {
  Integers length{5};
  int degree = 2, nodes = 50;
  bool reversed = true;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, 1000, "nodes of an arm, with the start");
    o.integer("degree", degree, 1, 1000, "arms");
    o.integer("nodes", nodes, 2, 10000, "nodes that arms are drawn from");
    o.flag("reversed", reversed, "the answer goes from the end to the start");
  }
};

class PathStar final : public BasicTask<Options> {
 public:
  PathStar(const Options& options, Layout layout) : BasicTask(options, layout) {
    const int needed = options.degree * (options.length.max() - 1) + 1;
    if (needed > options.nodes) {
      throw InputError(fmt::format("task 'path_star': degree {} and length {} need {} nodes, not {}; raise nodes",
                                   options.degree, options.length.max(), needed, options.nodes));
    }
  }

  int vocabulary() const override { return options_.nodes + 3; }
  double chance_level() const override { return 1.0 / options_.nodes; }
  std::string token_text(int token) const override {
    return token < options_.nodes ? std::to_string(token) : std::string(1, "|/="[token - options_.nodes]);
  }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> nodes = distinct_ids(rng, 0, options_.nodes, options_.degree * (length - 1) + 1);
    std::vector<std::pair<int, int>> edges;
    for (size_t n = 1; n < nodes.size(); ++n) {
      const bool starts_arm = (n - 1) % (length - 1) == 0;
      edges.emplace_back(nodes[starts_arm ? 0 : n - 1], nodes[n]);
    }
    std::vector<int> answer{nodes[0]};  // the first arm; the order of the edges will be random
    answer.insert(answer.end(), nodes.begin() + 1, nodes.begin() + length);
    const int end = answer.back();
    if (options_.reversed) std::reverse(answer.begin(), answer.end());

    return ask_about_edges(layout_, std::move(edges), {nodes[0], end}, options_.nodes, answer, rng);
  }
};

const RegisterTask<PathStar> registered{kInfo};

}  // namespace
}  // namespace posbench::path_star
