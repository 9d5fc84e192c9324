#include "tasks/parts/graphs.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tasks/parts/examples.h"

namespace posbench {

Example ask_about_edges(Layout layout, std::vector<std::pair<int, int>> edges, const std::vector<int>& vertices,
                        int bar, const std::vector<int>& answer, Rng& rng) {
  shuffle(std::span(edges), rng);
  std::vector<int> question, segments;
  for (size_t n = 0; n < edges.size(); ++n) {
    if (n > 0) question.push_back(bar);
    question.insert(question.end(), {edges[n].first, edges[n].second});
    segments.resize(question.size(), static_cast<int>(n));
  }
  question.push_back(bar + 1);
  question.insert(question.end(), vertices.begin(), vertices.end());
  Example example = ask(layout, std::move(question), bar + 2, answer);
  set_segments(example, std::move(segments), static_cast<int>(edges.size()));
  return example;
}

}  // namespace posbench
