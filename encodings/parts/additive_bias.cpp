#include "encodings/parts/additive_bias.h"

#include "model/attention.h"

namespace posbench::inline POSBENCH_REAL {

void AdditiveBias::tables(const Parameters& p, const Positions& positions, Tables& tables) const {
  Matrices& biases = learned() ? tables.values : tables.constants<Matrices>();
  resize(biases, (per_layer() ? config_.layers : 1) * config_.heads, positions.size(), positions.size());
  bias(p, positions, biases);
}

void AdditiveBias::tables_backward(const Parameters& p, const Positions& positions, const Tables&,
                                   const Matrices& d_bias, Gradients& d) const {
  if (learned()) bias_backward(p, positions, d_bias, d);
}

void AdditiveBias::content(const AttentionInput& in, Heads& content) const {
  for (size_t h = 0; h < content.size(); ++h)
    dot_product(in.q[h], in.k[h], content_scale(), config_.causal, content[h]);
}

void AdditiveBias::score(const AttentionInput& in, Heads& scores) const {
  content(in, scores);
  for (size_t h = 0; h < scores.size(); ++h) {
    const Matrix& bias = bias_of(in.tables, in.layer, h);
    for (Index i = 0; i < in.length(); ++i) {
      const Index keys = num_visible_keys(i, in.length(), config_.causal);
      scores[h].row(i).head(keys) += bias.row(i).head(keys);
    }
  }
}

void AdditiveBias::score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const {
  for (size_t h = 0; h < d_scores.size(); ++h) {
    dot_product_backward(in.q[h], in.k[h], content_scale(), config_.causal, d_scores[h], d.q[h], d.k[h]);
    if (!learned()) continue;
    Matrix& d_bias = d_bias_of(d.tables, in.layer, h);
    for (Index i = 0; i < in.length(); ++i) {
      const Index keys = num_visible_keys(i, in.length(), config_.causal);
      d_bias.row(i).head(keys) += d_scores[h].row(i).head(keys);
    }
  }
}

}  // namespace posbench::inline POSBENCH_REAL
