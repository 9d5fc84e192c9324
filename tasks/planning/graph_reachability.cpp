// Answers whether one vertex of a graph can be reached from another.
//
//   2 8 | 5 4 | 8 3 | 4 9 / 2 3 =   ->   yes
//
// The graph has `paths` directed paths of `length` edges, and all vertices are distinct. Edges are in random
// order, followed by the question: vertex number s of one path, and vertex number e > s of the same path (yes) or
// of another (no). The two numbers have the same distribution for both answers, so a model has to follow the
// edges.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/parts/graphs.h"
#include "tasks/registry.h"

namespace posbench::graph_reachability {
namespace {

const TaskInfo kInfo{
    .name = "graph_reachability",
    .family = "planning",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads the edges of directed paths in random order and two vertices, and answers whether the second "
        "can be reached from the first.",
    .requirement =
        "Attention has to follow edges, whose order means nothing. The number of layers bounds how many edges it can "
        "follow: each layer can at most double it.",
    .source = "Sanford et al. 2024, arXiv:2405.18512",
    .published_name = "graph connectivity",
    .published =
        "The paper asks for connectivity in the undirected graphs of GraphQA. Here the graph consists of paths, so "
        "that degrees and distances give nothing away, and edges are directed. The splits are ours.",
    .length_unit = "edges of a path",
    .distance_unit = "edges between the two places",
    .splits = {{"in_distribution", {}, "the trained graphs"},
               {"ood_length2", {{"length", "1x..2x"}}, "up to twice the edges in a path"},
               {"ood_paths", {{"paths", "3"}}, "a third path"}},
    .learnability = Learnability::open,
    .learnability_note =
        "The model of the quick profile was trained for 8000 steps with seed 0 and vertices=12: rope and txl "
        "with length=1..2 at a learning rate of 1e-3, rope with length=1..3 at 3e-3, and rope with "
        "length=2..3 at 1e-3 with 128 sequences in a batch. Half of the answers are right, as with a constant "
        "answer.",
};

struct Options {
  Integers length{2, 5};
  int paths = 2, vertices = 40;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 1000, "edges of a path");
    o.integer("paths", paths, 2, 1000, "paths");
    o.integer("vertices", vertices, 4, 10000, "vertices that paths are drawn from");
  }
};

class GraphReachability final : public BasicTask<Options> {
 public:
  GraphReachability(const Options& options, Layout layout) : BasicTask(options, layout) {
    const int needed = options.paths * (options.length.max() + 1);
    if (needed > options.vertices) {
      throw InputError(
          fmt::format("task 'graph_reachability': paths {} and length {} need {} vertices, not {}; raise vertices",
                      options.paths, options.length.max(), needed, options.vertices));
    }
  }

  int vocabulary() const override { return bar() + 3; }
  int answers() const override { return 2; }
  double chance_level() const override { return 0.5; }
  std::string token_text(int token) const override {
    if (token < 2) return token == 0 ? "no" : "yes";
    return token < bar() ? std::to_string(token - 2) : std::string(1, "|/="[token - bar()]);
  }

  Example sample(int length, Rng& rng) const override {
    const int size = length + 1;  // the vertices of a path
    const std::vector<int> vertices = distinct_ids(rng, 2, options_.vertices, options_.paths * size);
    std::vector<std::pair<int, int>> edges;
    for (int n = 0; n + 1 < static_cast<int>(vertices.size()); ++n) {
      if ((n + 1) % size != 0) edges.emplace_back(vertices[n], vertices[n + 1]);
    }
    const int start = uniform(rng, 0, length - 1), end = uniform(rng, start + 1, length);
    const bool reachable = uniform(rng, 0, 1) == 1;
    Example example =
        ask_about_edges(layout_, std::move(edges), {vertices[start], vertices[reachable ? end : size + end]},
                        bar(), {reachable ? 1 : 0}, rng);
    example.distances = {end - start};
    return example;
  }

 private:
  int bar() const { return options_.vertices + 2; }
};

const RegisterTask<GraphReachability> registered{kInfo};

}  // namespace
}  // namespace posbench::graph_reachability
