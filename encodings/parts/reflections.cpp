#include "encodings/parts/reflections.h"

#include <fmt/format.h>

#include <cmath>

#include "model/layers.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench {
namespace {

constexpr Index kTaps = 3;              // tokens that the convolution reads
constexpr Real kEpsilon = Real(1e-12);  // under the root of a norm

// kLanes queries are processed together, one to a lane, so that a dot product is a sum of products of lanes.
constexpr Index kLanes = 16;
using Lanes = Eigen::Array<Real, kLanes, 1>;
using LanesMap = Eigen::Map<Lanes>;

/// Of all lanes, by halves: as on every processor.
Real total(const Lanes& v) {
  Real sums[kLanes / 2];
  for (Index n = 0; n < kLanes / 2; ++n) sums[n] = v[n] + v[n + kLanes / 2];
  for (Index half = kLanes / 4; half > 0; half /= 2) {
    for (Index n = 0; n < half; ++n) sums[n] += sums[n + half];
  }
  return sums[0];
}

LanesMap lanes(Matrix& m, Index row) { return LanesMap(m.row(row).data()); }

}  // namespace

Reflections::Reflections(const std::string& name, Index rank, bool convolved, const ModelShape& shape,
                         ParameterLayout& layout)
    : shape_(shape), convolved_(convolved) {
  const Index C = shape.width;
  for (int layer = 0; layer < shape.layers; ++layer) {
    const auto add = [&](const char* part, Index rows,
                         Index cols) {  // U(-1, 1) / sqrt(inputs), the framework's default
      const double bound = 1 / std::sqrt(rows);
      return layout.uniform(fmt::format("{}.{}.{}", name, layer, part), rows, cols, -bound, bound);
    };
    down_.push_back(add("down", C, rank));
    up_.push_back(add("up", rank, C));
    if (convolved) convolution_.push_back(add("convolution", kTaps, C));
    strength_weights_.push_back(add("strength.weight", C, shape.heads));
    strength_biases_.push_back(
        layout.constant(fmt::format("{}.{}.strength.bias", name, layer), 1, shape.heads, 0));
  }
}

/// w and beta of all tokens, and the values that they are computed from.
struct Reflections::Directions {
  Directions(const Reflections& r, const AttentionInput& in)
      : low(in.scratch(in.length(), r.down_[in.layer].cols)),
        raw(in.scratch(in.length(), r.shape_.width)),
        convolved(in.scratch(in.length(), r.shape_.width)),
        unit(in.scratch(in.length(), r.shape_.width)),
        norm(in.scratch(in.length(), r.shape_.heads)),
        strength(in.scratch(in.length(), r.shape_.heads)) {
    const Index T = in.length(), D = r.shape_.head_width();
    multiply(in.x, in.parameters[r.down_[in.layer]], low);
    multiply(low, in.parameters[r.up_[in.layer]], raw);
    if (r.convolved_) {
      const auto kernel = in.parameters[r.convolution_[in.layer]];
      for (Index t = 0; t < T; ++t) {
        convolved.row(t).setZero();
        for (Index back = 0; back <= std::min(t, kTaps - 1); ++back) {
          convolved.row(t) += raw.row(t - back).cwiseProduct(kernel.row(kTaps - 1 - back));
        }
      }
      sigmoid(convolved, unit);
      unit.array() *= convolved.array();
    } else {
      unit = raw;
    }
    for (Index t = 0; t < T; ++t) {
      for (Index h = 0; h < r.shape_.heads; ++h) {
        auto head = unit.row(t).segment(h * D, D);
        norm(t, h) = std::sqrt(dot(head, head) + kEpsilon);
        head /= norm(t, h);
      }
    }
    linear(in.x, in.parameters[r.strength_weights_[in.layer]], in.parameters[r.strength_biases_[in.layer]],
           strength);
    sigmoid(strength, strength);
    strength *= 2;
  }
  Matrix &low, &raw, &convolved;  // (T, rank), (T, C), (T, C)
  Matrix& unit;                   // (T, C): w
  Matrix& norm;                   // (T, H): what w was divided by
  Matrix& strength;               // (T, H): beta
};

void Reflections::directions_backward(const AttentionInput& in, const Directions& f, const Matrix& d_unit,
                                      const Matrix& d_strength, AttentionGradient& d) const {
  const Index T = in.length(), D = shape_.head_width();
  Matrix &d_raw = in.scratch(T, shape_.width), &d_low = in.scratch(T, f.low.cols()),
         &d_logits = in.scratch(T, shape_.heads);
  for (Index t = 0; t < T; ++t) {
    for (Index h = 0; h < shape_.heads; ++h) {  // (d_w - w (w . d_w)) / norm
      const auto unit = f.unit.row(t).segment(h * D, D);
      const auto d_head = d_unit.row(t).segment(h * D, D);
      d_raw.row(t).segment(h * D, D) = (d_head - dot(unit, d_head) * unit) / f.norm(t, h);
    }
  }
  if (convolved_) {
    const auto kernel = in.parameters[convolution_[in.layer]];
    auto d_kernel = d.parameters[convolution_[in.layer]];
    Matrix& open = in.scratch(T, shape_.width);  // the derivative of SiLU(c) is s + c s (1 - s) with s = sigmoid(c)
    sigmoid(f.convolved, open);
    d_raw.array() *= open.array() * (1 + f.convolved.array() * (1 - open.array()));
    for (Index t = 0; t < T; ++t) {
      for (Index back = 0; back <= std::min(t, kTaps - 1); ++back) {
        d_kernel.row(kTaps - 1 - back) += f.raw.row(t - back).cwiseProduct(d_raw.row(t));
      }
    }
    for (Index t = 0; t < T; ++t) {  // the rows ahead, not yet overwritten, are still of the convolution's result
      d_raw.row(t).array() *= kernel.row(kTaps - 1).array();
      for (Index ahead = 1; ahead < std::min(kTaps, T - t); ++ahead) {
        d_raw.row(t) += d_raw.row(t + ahead).cwiseProduct(kernel.row(kTaps - 1 - ahead));
      }
    }
  }
  multiply_add(f.low.transpose(), d_raw, d.parameters[up_[in.layer]]);
  multiply(d_raw, in.parameters[up_[in.layer]].transpose(), d_low);
  multiply_add(in.x.transpose(), d_low, d.parameters[down_[in.layer]]);
  multiply_add(d_low, in.parameters[down_[in.layer]].transpose(), d.x);
  d_logits = d_strength.array() * f.strength.array() * (1 - f.strength.array() / 2);
  linear_backward(in.x, in.parameters[strength_weights_[in.layer]], d_logits, d.x,
                  d.parameters[strength_weights_[in.layer]], d.parameters[strength_biases_[in.layer]]);
}

namespace {

/// Puts the rows first, first + 1, ... of a head's (T, D) into lanes: component d of all of them in row `row` + d
/// of m. Lanes beyond the last row are zero.
void load_lanes(const Matrix& rows, Index first, Index row, Matrix& m) {
  const Index count = std::min(kLanes, rows.rows() - first);
  auto block = m.middleRows(row, rows.cols());
  if (count < kLanes) block.setZero();
  block.leftCols(count) = rows.middleRows(first, count).transpose();
}

/// At key j: which of the lanes are queries at or after it.
Lanes from(Index j, Index first) {
  return (Lanes::LinSpaced(kLanes, 0, kLanes - 1) >= static_cast<Real>(j - first))
      .select(Lanes::Ones(), Lanes::Zero());
}

}  // namespace

void Reflections::score(const AttentionInput& in, Heads& scores) const {
  const Index T = in.length(), D = shape_.head_width();
  const Real scale = 1 / std::sqrt(static_cast<Real>(D));
  const Directions f(*this, in);
  Matrix &query = in.scratch(D, kLanes), &products = in.scratch(T, kLanes);
  for (size_t h = 0; h < scores.size(); ++h) {
    const Index column = static_cast<Index>(h) * D;
    for (Index first = 0; first < T; first += kLanes) {
      const Index count = std::min(kLanes, T - first);
      load_lanes(in.q[h], first, 0, query);
      for (Index j = first + count - 1; j >= 0; --j) {
        const Real *w = f.unit.row(j).data() + column, *k = in.k[h].row(j).data();
        Lanes along = Lanes::Zero(), product = Lanes::Zero();
        for (Index e = 0; e < D; ++e) {
          const Lanes y = lanes(query, e);
          along += w[e] * y;
          product += k[e] * y;
        }
        lanes(products, j) = scale * product;
        along *= f.strength(j, static_cast<Index>(h));
        if (j > first) along *= from(j, first);
        for (Index e = 0; e < D; ++e) lanes(query, e) -= w[e] * along;
      }
      scores[h].block(first, 0, count, first + count) = products.topLeftCorner(first + count, count).transpose();
    }
  }
}

void Reflections::score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const {
  const Index T = in.length(), D = shape_.head_width();
  const Real scale = 1 / std::sqrt(static_cast<Real>(D));
  const Directions f(*this, in);
  Matrix &d_unit = in.scratch(T, shape_.width), &d_strength = in.scratch(T, shape_.heads);
  Matrix& queries = in.scratch(T * D, kLanes);  // as they reach each key: component e at key j in row j D + e
  Matrix &alongs = in.scratch(T, kLanes), &d_products = in.scratch(T, kLanes), &d_query = in.scratch(D, kLanes);
  d_unit.setZero();
  d_strength.setZero();
  for (size_t h = 0; h < d_scores.size(); ++h) {
    const Index column = static_cast<Index>(h) * D;
    for (Index first = 0; first < T; first += kLanes) {
      const Index count = std::min(kLanes, T - first), last = first + count - 1;

      load_lanes(in.q[h], first, last * D, queries);  // replay the walk from query to key
      for (Index j = last; j >= 0; --j) {
        const Real* w = f.unit.row(j).data() + column;
        Lanes along = Lanes::Zero();
        for (Index e = 0; e < D; ++e) along += w[e] * lanes(queries, j * D + e);
        if (j > first) along *= from(j, first);
        lanes(alongs, j) = along;
        if (j == 0) break;
        along *= f.strength(j, static_cast<Index>(h));
        for (Index e = 0; e < D; ++e) lanes(queries, (j - 1) * D + e) = lanes(queries, j * D + e) - w[e] * along;
      }

      d_products.topRows(last + 1).setZero();
      d_products.topLeftCorner(last + 1, count) = scale * d_scores[h].block(first, 0, count, last + 1).transpose();
      d_query.setZero();
      for (Index j = 0; j <= last; ++j) {  // undo it key by key: y' = y - beta (w . y) w
        const Real *w = f.unit.row(j).data() + column, *k = in.k[h].row(j).data();
        Real *d_w = d_unit.row(j).data() + column, *d_k = d.k[h].row(j).data();
        const Real strength = f.strength(j, static_cast<Index>(h));
        Lanes d_along = Lanes::Zero();  // w . d_y'
        for (Index e = 0; e < D; ++e) d_along += w[e] * lanes(d_query, e);
        if (j > first) d_along *= from(j, first);
        const Lanes along = lanes(alongs, j), d_product = lanes(d_products, j);
        d_strength(j, static_cast<Index>(h)) -= total(along * d_along);
        const Lanes a = strength * d_along, b = strength * along;
        for (Index e = 0; e < D; ++e) {
          const Lanes y = lanes(queries, j * D + e), d_y = lanes(d_query, e);
          d_k[e] += total(d_product * y);
          d_w[e] -= total(a * y + b * d_y);
          lanes(d_query, e) = d_y + k[e] * d_product - w[e] * a;
        }
      }
      d.q[h].middleRows(first, count) += d_query.leftCols(count).transpose();
    }
  }
  directions_backward(in, f, d_unit, d_strength, d);
}

}  // namespace posbench
