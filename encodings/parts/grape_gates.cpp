#include "encodings/parts/grape_gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "encodings/parts/slopes.h"
#include "model/layers.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

constexpr Real kMinNorm = Real(1e-6);

Real norm_of(const In& u) { return std::max(std::sqrt(dot(u, u)), kMinNorm); }

}  // namespace

GrapeGates::GrapeGates(const std::string& name, GatedBy gated_by, const ModelConfig& config,
                       ParameterLayout& layout)
    : PositionEncoding(config), slopes_(alibi_slopes(config.heads)) {
  const double deviation = 1 / std::sqrt(config.head_width());
  for (int layer = 0; layer < config.layers; ++layer) {
    const auto part = [&](const char* part) { return fmt::format("{}.{}.{}", name, layer, part); };
    strengths_.push_back(layout.constant(part("strength"), 1, config.heads, std::log(std::expm1(1.0))));
    if (gated_by != GatedBy::query) {
      key_gates_.push_back(layout.normal(part("key_gate"), config.heads, config.head_width(), deviation));
    }
    if (gated_by != GatedBy::key) {
      query_gates_.push_back(layout.normal(part("query_gate"), config.heads, config.head_width(), deviation));
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
  for (Index h = 0; h < config_.heads; ++h) {
    compute_gates(in, h, {key_gates_, in.k[h], logits, keys});
    compute_gates(in, h, {query_gates_, in.q[h], logits, queries});
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
  for (Index h = 0; h < config_.heads; ++h) {
    const Side key_side{key_gates_, in.k[h], key_logits, keys},
        query_side{query_gates_, in.q[h], query_logits, queries};
    compute_gates(in, h, key_side);
    compute_gates(in, h, query_side);
    d_keys.setZero();  // the gradient of the gates over -slope
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
    gates_backward(in, h, key_side, d_keys, d, d.k[h]);
    gates_backward(in, h, query_side, d_queries, d, d.q[h]);
  }
}

/// m_h softplus(o_h)
Real GrapeGates::slope(const AttentionInput& in, Index h) const {
  return static_cast<Real>(slopes_[h]) * softplus(in.parameters[strengths_[in.layer]](0, h));
}

/// gates = softplus(logits),   logits = y u / (|u| sqrt(D))
void GrapeGates::compute_gates(const AttentionInput& in, Index h, const Side& side) const {
  if (side.directions.empty()) {
    side.gates.setZero();
    return;
  }
  const auto u = in.parameters[side.directions[in.layer]].row(h);
  multiply(side.y, u.transpose(), side.logits);
  side.logits *= scale() / norm_of(u);
  side.gates = side.logits.transpose();
  softplus(side.gates, side.gates);
}
void GrapeGates::gates_backward(const AttentionInput& in, Index h, const Side& side, const Matrix& d_gates,
                                AttentionGradient& d, Matrix& d_y) const {
  if (side.directions.empty()) return;
  const auto u = in.parameters[side.directions[in.layer]].row(h);
  const Real norm = norm_of(u);
  Matrix &logits = side.logits, &d_direction = in.scratch(1, u.size());
  sigmoid(logits, logits);
  logits.array() *= d_gates.transpose().array() * (scale() / norm);  // the gradient of y . u
  multiply_add(logits, u, d_y);
  multiply(logits.transpose(), side.y, d_direction);
  d.parameters[side.directions[in.layer]].row(h) += d_direction - u * (dot(u, d_direction.row(0)) / (norm * norm));
}

EncodingInfo grape_gates_info(EncodingInfo info) {
  info.family = Family::contextual;
  info.source = "Zhang et al. 2025, arXiv:2512.07805; model-architectures/GRAPE";
  info.notes =
      "m_h are ALiBi's slopes. Gates are N(0, D^-0.5) at the start and divided by their norms, and "
      "softplus(o_h) starts at 1. The code normalizes queries and keys first, which is left out.";
  info.causal_only = true;
  info.learned = true;
  info.extrapolates = Extrapolation::yes;
  info.relative = Relative::yes;
  info.distance_decay = DistanceDecay::yes;
  return info;
}

}  // namespace posbench::inline POSBENCH_REAL
