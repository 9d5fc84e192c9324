#include "encodings/parts/additive_bias.h"

#include "model/attention.h"

namespace posbench {

void AdditiveBias::tables(const Parameters& p, const Positions& positions, Tables& tables) const {
  resize(tables, (per_layer() ? shape_.layers : 1) * shape_.heads, positions.size(), positions.size());
  bias(p, positions, tables);
}

void AdditiveBias::tables_backward(const Parameters& p, const Positions& positions, const Tables&,
                                   const Tables& d_bias, Gradients& d) const {
  if (learned()) bias_backward(p, positions, d_bias, d);
}

void AdditiveBias::score(const AttentionInput& in, Heads& scores) const {
  for (size_t h = 0; h < scores.size(); ++h) {
    dot_product(in.q[h], in.k[h], content_scale(), shape_.causal, scores[h]);
    const Matrix& bias = in.tables[table(in.layer, h)];
    for (Index i = 0; i < in.length(); ++i) {
      const Index keys = visible(i, in.length(), shape_.causal);
      scores[h].row(i).head(keys) += bias.row(i).head(keys);
    }
  }
}

void AdditiveBias::score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const {
  for (size_t h = 0; h < d_scores.size(); ++h) {
    dot_product_backward(in.q[h], in.k[h], content_scale(), shape_.causal, d_scores[h], d.q[h], d.k[h]);
    if (!learned()) continue;
    Matrix& d_bias = d.tables[table(in.layer, h)];
    for (Index i = 0; i < in.length(); ++i) {
      const Index keys = visible(i, in.length(), shape_.causal);
      d_bias.row(i).head(keys) += d_scores[h].row(i).head(keys);
    }
  }
}

}  // namespace posbench
