#include "encodings/parts/relative_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "model/attention.h"

namespace posbench::inline POSBENCH_REAL {

void RelativeKeysOptions::describe(OptionTable& o) {
  o.integer("clip", clip, 0, 1 << 20, "K: distances beyond it share one vector; 0: the trained length - 1");
  o.flag("shared_table", shared_table, "the same vectors in all layers");
}

RelativeKeys::RelativeKeys(const RelativeKeysOptions& options, const std::string& name, const ModelConfig& config,
                           ParameterLayout& layout)
    : PositionEncoding(config),
      name_(name),
      clip_(options.clip > 0 ? options.clip : std::max(1, config.trained_length - 1)),
      shared_table_(options.shared_table),
      keys_(add_tables("keys", 1 / std::sqrt(config.head_width()), layout)) {}

std::vector<Parameter> RelativeKeys::add_tables(std::string_view kind, double deviation,
                                                ParameterLayout& layout) const {
  std::vector<Parameter> tables;
  for (int layer = 0; layer < (shared_table_ ? 1 : config_.layers); ++layer) {
    const std::string name =
        shared_table_ ? fmt::format("{}.{}", name_, kind) : fmt::format("{}.{}.{}", name_, kind, layer);
    tables.push_back(layout.no_decay(layout.normal(name, 2 * clip_ + 1, config_.head_width(), deviation)));
  }
  return tables;
}

void RelativeKeys::tables(const Parameters&, const Positions& positions, Tables& tables) const {
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
  classify_tiles(pairs);
}

void RelativeKeys::score(const AttentionInput& in, Heads& scores) const {
  PositionEncoding::score(in, scores);
  const In table = in.parameters[of_layer(keys_, in.layer)];
  for (size_t h = 0; h < scores.size(); ++h)
    add_row_products(in.q[h], pair_vectors(table, in), {Side::query, scale()}, scores[h]);
}

void RelativeKeys::score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const {
  PositionEncoding::score_backward(in, d_scores, d);
  const In table = in.parameters[of_layer(keys_, in.layer)];
  Out d_table = d.parameters[of_layer(keys_, in.layer)];
  for (size_t h = 0; h < d_scores.size(); ++h) {
    add_row_products_backward(in.q[h], pair_vectors(table, in), {Side::query, scale()}, d_scores[h], d.q[h],
                              d_table);
  }
}

}  // namespace posbench::inline POSBENCH_REAL
