#include "encodings/parts/tupe.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/attention.h"
#include "model/layers.h"
#include "model/numeric.h"

namespace posbench::inline POSBENCH_REAL {

Tupe::Tupe(const std::string& name, const TupeOptions& options, const ModelConfig& config, ParameterLayout& layout)
    : AdditiveBias(config),
      reset_(options.reset == Reset::always || (options.reset == Reset::bidirectional && !config.causal)),
      rows_(options.positions > 0 ? options.positions : config.longest) {
  constexpr double kDeviation = 0.02;
  const Index C = config.width;
  table_ = layout.no_decay(layout.normal(name + ".positions", rows_ + (reset_ ? 1 : 0), C, kDeviation));
  gain_ = layout.constant(name + ".norm.weight", 1, C, 1);
  shift_ = layout.constant(name + ".norm.bias", 1, C, 0);
  query_ = layout.normal(name + ".query.weight", C, C, kDeviation);
  query_bias_ = layout.constant(name + ".query.bias", 1, C, 0);
  key_ = layout.normal(name + ".key.weight", C, C, kDeviation);
  key_bias_ = layout.constant(name + ".key.bias", 1, C, 0);
}

Tupe::Projected Tupe::project(const Parameters& p, const Positions& positions) const {
  Projected result;
  const Index first = reset_ ? 1 : 0;  // the row of position 0
  if (reset_) result.rows = {0, 1};
  for (Index t = first; t < positions.size(); ++t) {
    const Index position = static_cast<Index>(std::round(positions.at[t]));
    result.rows.push_back(first + std::clamp<Index>(position, 0, rows_ - 1));
  }
  const Index R = static_cast<Index>(result.rows.size()), C = config_.width;
  Matrix x(R, C);
  for (Index r = 0; r < R; ++r) x.row(r) = p[table_].row(result.rows[r]);
  for (Matrix* m : {&result.normalized, &result.y, &result.q, &result.k}) m->resize(R, C);
  result.rstd.resize(R, 1);
  layer_norm(x, p[gain_], p[shift_], result.normalized, result.rstd, result.y);
  linear(result.y, p[query_], p[query_bias_], result.q);
  linear(result.y, p[key_], p[key_bias_], result.k);
  return result;
}

void Tupe::bias(const Parameters& p, const Positions& positions, Matrices& bias) const {
  const Projected s = project(p, positions);
  const Index T = positions.size(), D = config_.head_width();
  for (size_t h = 0; h < bias.size(); ++h) {
    const auto q = s.q.middleCols(static_cast<Index>(h) * D, D), k = s.k.middleCols(static_cast<Index>(h) * D, D);
    dot_product(q.bottomRows(T), k.bottomRows(T), content_scale(), config_.causal, bias[h]);
    if (reset_) {
      bias[h].col(0).setConstant(content_scale() * dot(q.row(1), k.row(1)));
      bias[h].row(0).setConstant(content_scale() * dot(q.row(0), k.row(0)));
    }
  }
}

void Tupe::bias_backward(const Parameters& p, const Positions& positions, const Matrices& d_bias,
                         Gradients& d) const {
  const Projected s = project(p, positions);
  const Index T = positions.size(), D = config_.head_width(), R = static_cast<Index>(s.rows.size()),
              C = config_.width;
  Matrix d_q(R, C), d_k(R, C), d_y(R, C), d_x(R, C), d_pairs(T, T);
  for (Matrix* m : {&d_q, &d_k, &d_y, &d_x}) m->setZero();
  for (size_t h = 0; h < d_bias.size(); ++h) {
    const Index column = static_cast<Index>(h) * D;
    const auto q = s.q.middleCols(column, D), k = s.k.middleCols(column, D);
    auto d_query = d_q.middleCols(column, D), d_key = d_k.middleCols(column, D);
    d_pairs = d_bias[h];
    if (reset_) {
      const Real from = content_scale() * sum(d_pairs.row(0).head(num_visible_keys(0, T, config_.causal)));
      const Real to = content_scale() * sum(d_pairs.col(0).tail(T - 1));
      d_query.row(0) += from * k.row(0);
      d_key.row(0) += from * q.row(0);
      d_query.row(1) += to * k.row(1);
      d_key.row(1) += to * q.row(1);
      d_pairs.row(0).setZero();
      d_pairs.col(0).setZero();
    }
    dot_product_backward(q.bottomRows(T), k.bottomRows(T), content_scale(), config_.causal, d_pairs,
                         d_query.bottomRows(T), d_key.bottomRows(T));
  }
  linear_backward(s.y, p[query_], d_q, d_y, d[query_], d[query_bias_]);
  linear_backward(s.y, p[key_], d_k, d_y, d[key_], d[key_bias_]);
  layer_norm_backward(p[gain_], s.normalized, s.rstd, d_y, d_x, d[gain_], d[shift_]);
  auto d_table = d[table_];
  for (Index r = 0; r < R; ++r) d_table.row(s.rows[r]) += d_x.row(r);
}

}  // namespace posbench::inline POSBENCH_REAL
