#include "encodings/parts/relative_keys.h"

#include <fmt/format.h>

#include "encodings/parts/relative_rows.h"
#include "model/attention.h"

namespace posbench {

RelativeKeys::RelativeKeys(const std::string& name, Index clip, bool shared_table, const ModelShape& shape,
                           ParameterLayout& layout)
    : causal_(shape.causal), clip_(clip) {
  const double deviation = 1 / std::sqrt(shape.head_width());
  for (int layer = 0; layer < (shared_table ? 1 : shape.layers); ++layer) {
    const std::string table = shared_table ? name + ".keys" : fmt::format("{}.keys.{}", name, layer);
    tables_.push_back(layout.no_decay(layout.normal(table, 2 * clip + 1, shape.head_width(), deviation)));
  }
}

void RelativeKeys::rows(const Positions& positions, Tables& tables) const {
  const Index T = positions.size();
  const Real clip = static_cast<Real>(clip_);
  PairRows& pairs = tables.constants<PairRows>();
  pairs.index.resize(T, T);
  for (Index i = 0; i < T; ++i) {
    for (Index j = 0; j < T; ++j) {
      const Real clipped = std::clamp(std::round(-positions.distance(i, j)), -clip, clip);
      pairs.index(i, j) = static_cast<std::int32_t>(clipped + clip);
    }
  }
  find_runs(pairs);
}

void RelativeKeys::add(const AttentionInput& in, Heads& scores) const {
  const auto table = in.parameters[this->table(in.layer)];
  for (size_t h = 0; h < scores.size(); ++h) {
    add_row_products(in.q[h], table, pairs(in), Side::query, scale(), causal_, in.scratch, scores[h]);
  }
}

void RelativeKeys::add_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const {
  const auto table = in.parameters[this->table(in.layer)];
  auto d_table = d.parameters[this->table(in.layer)];
  for (size_t h = 0; h < d_scores.size(); ++h) {
    add_row_products_backward(in.q[h], table, pairs(in), Side::query, scale(), causal_, d_scores[h], in.scratch,
                              d.q[h], d_table);
  }
}

}  // namespace posbench
