// Lays out questions about a graph, which is given by its edges.
#pragma once
#include <utility>
#include <vector>

#include "base/random.h"
#include "tasks/task.h"

namespace posbench {

/// Lays out a question about vertices and its answer: the edges in random order with `bar` between them, then
/// bar + 1, the vertices and bar + 2. Each edge is a segment, and the rest is the last segment.
Example ask_about_edges(Layout, std::vector<std::pair<int, int>> edges, const std::vector<int>& vertices, int bar,
                        const std::vector<int>& answer, Rng&);

}  // namespace posbench
