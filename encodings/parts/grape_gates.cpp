#include "encodings/parts/grape_gates.h"

#include <fmt/format.h>

#include <cmath>

#include "encodings/parts/slopes.h"
#include "model/layers.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench {
namespace {

constexpr Real kMinNorm = Real(1e-6);

Real norm_of(const In& u) { return std::max(std::sqrt(dot(u, u)), kMinNorm); }

}  // namespace

GrapeGates::GrapeGates(const std::string& name, bool of_keys, bool of_queries, const ModelShape& shape,
                       ParameterLayout& layout)
    : PositionEncoding(shape), slopes_(alibi_slopes(shape.heads)) {
  const double deviation = 1 / std::sqrt(shape.head_width());
  for (int layer = 0; layer < shape.layers; ++layer) {
    const auto part = [&](const char* part) { return fmt::format("{}.{}.{}", name, layer, part); };
    strengths_.push_back(layout.constant(part("strength"), 1, shape.heads, std::log(std::expm1(1.0))));
    if (of_keys) key_gates_.push_back(layout.normal(part("key_gate"), shape.heads, shape.head_width(), deviation));
    if (of_queries) {
      query_gates_.push_back(layout.normal(part("query_gate"), shape.heads, shape.head_width(), deviation));
    }
  }
}

void GrapeGates::tables(const Parameters&, const Positions& positions, Tables& tables) const {
  const Index T = positions.size();
  Matrix& distances = tables.constants<Constants>().distances;
  distances.resize(T, T);
  for (Index i = 0; i < T; ++i) {
    for (Index j = 0; j < T; ++j) distances(i, j) = positions.distance(i, j);
  }
}

void GrapeGates::score(const AttentionInput& in, Heads& scores) const {
  PositionEncoding::score(in, scores);
  const Matrix& distances = in.tables.constants<Constants>().distances;
  const Index T = in.length();
  Matrix &logits = in.scratch(T, 1), &keys = in.scratch(1, T), &queries = in.scratch(1, T);
  for (Index h = 0; h < shape_.heads; ++h) {
    gate(in, key_gates_, h, in.k[h], logits, keys);
    gate(in, query_gates_, h, in.q[h], logits, queries);
    const Real slope = this->slope(in, h);
    for (Index i = 0; i < T; ++i) {
      scores[h].row(i).head(i + 1).array() -=
          slope * distances.row(i).head(i + 1).array() * (keys.row(0).head(i + 1).array() + queries(0, i));
    }
  }
}

void GrapeGates::score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const {
  PositionEncoding::score_backward(in, d_scores, d);
  const Matrix& distances = in.tables.constants<Constants>().distances;
  const Index T = in.length();
  Matrix &key_logits = in.scratch(T, 1), &query_logits = in.scratch(T, 1), &keys = in.scratch(1, T);
  Matrix &queries = in.scratch(1, T), &d_keys = in.scratch(1, T), &d_queries = in.scratch(1, T),
         &row = in.scratch(1, T);
  for (Index h = 0; h < shape_.heads; ++h) {
    gate(in, key_gates_, h, in.k[h], key_logits, keys);
    gate(in, query_gates_, h, in.q[h], query_logits, queries);
    d_keys.setZero();  // of the gates, over -slope
    for (Index i = 0; i < T; ++i) {
      row.leftCols(i + 1) = d_scores[h].row(i).head(i + 1).cwiseProduct(distances.row(i).head(i + 1));
      d_keys.leftCols(i + 1) += row.leftCols(i + 1);
      d_queries(0, i) = sum(row.leftCols(i + 1));
    }
    const Real d_slope = -dot(d_keys, keys) - dot(d_queries, queries);
    const Real strength = in.parameters[strengths_[in.layer]](0, h);
    d.parameters[strengths_[in.layer]](0, h) +=
        d_slope * static_cast<Real>(slopes_[h]) / (1 + std::exp(-strength));
    const Real slope = this->slope(in, h);
    d_keys *= -slope;
    d_queries *= -slope;
    gate_backward(in, key_gates_, h, in.k[h], key_logits, d_keys, d, d.k[h]);
    gate_backward(in, query_gates_, h, in.q[h], query_logits, d_queries, d, d.q[h]);
  }
}

/// m_h softplus(o_h)
Real GrapeGates::slope(const AttentionInput& in, Index h) const {
  return static_cast<Real>(slopes_[h]) * softplus(in.parameters[strengths_[in.layer]](0, h));
}

/// gates (1, T) = softplus(logits), logits (T, 1) = y u / (|u| sqrt(D)); zero for the side that has none.
void GrapeGates::gate(const AttentionInput& in, const std::vector<Parameter>& gates, Index h, const Matrix& y,
                      Matrix& logits, Matrix& result) const {
  if (gates.empty()) {
    result.setZero();
    return;
  }
  const auto u = in.parameters[gates[in.layer]].row(h);
  multiply(y, u.transpose(), logits);
  logits *= scale() / norm_of(u);
  result = logits.transpose();
  softplus(result, result);
}
void GrapeGates::gate_backward(const AttentionInput& in, const std::vector<Parameter>& gates, Index h,
                               const Matrix& y, Matrix& logits, const Matrix& d_gates, AttentionGradient& d,
                               Matrix& d_y) const {
  if (gates.empty()) return;
  const auto u = in.parameters[gates[in.layer]].row(h);
  const Real norm = norm_of(u);
  sigmoid(logits, logits);
  logits.array() *= d_gates.transpose().array() * (scale() / norm);  // of y . u
  multiply_add(logits, u, d_y);
  auto d_u = d.parameters[gates[in.layer]].row(h);
  Matrix& d_direction = in.scratch(1, u.size());
  multiply(logits.transpose(), y, d_direction);
  d_u += d_direction - u * (dot(u, d_direction.row(0)) / (norm * norm));
}

}  // namespace posbench
