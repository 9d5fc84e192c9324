#include "encodings/parts/reflections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/lanes.h"
#include "model/layers.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

constexpr Index kTaps = 3;              // tokens that the convolution reads
constexpr Real kEpsilon = Real(1e-12);  // added to the squared norm of a direction

// Queries are processed together, one in each lane, so that a dot product is a sum of products of lanes.
constexpr Index kQueries = 2 * kLanes;

/// A number of each of these queries.
struct QueryLanes {
  Lanes low{}, high{};
};

QueryLanes at(const Matrix& m, Index row) {
  const Real* from = m.row(row).data();
  return {load(from), load(from + kLanes)};
}
void put(const QueryLanes& x, Matrix& m, Index row) {
  Real* to = m.row(row).data();
  store(x.low, to);
  store(x.high, to + kLanes);
}
QueryLanes operator*(const QueryLanes& x, const QueryLanes& y) { return {x.low * y.low, x.high * y.high}; }
QueryLanes operator*(Real x, const QueryLanes& y) { return {x * y.low, x * y.high}; }
/// x y + z, rounded once.
QueryLanes product_plus(const QueryLanes& x, Real y, const QueryLanes& z) {
  return {fused(x.low, y, z.low), fused(x.high, y, z.high)};
}
QueryLanes product_plus(const QueryLanes& x, const QueryLanes& y, const QueryLanes& z) {
  return {fused(x.low, y.low, z.low), fused(x.high, y.high, z.high)};
}
Real total(const QueryLanes& x) { return sum(x.low + x.high); }

}  // namespace

void Reflections::Options::describe(OptionTable& o) {
  o.integer("rank", rank, 1, 4096, "inner width of the map from x to the reflections' directions");
  o.flag("convolution", convolution,
         "directions from the last three tokens, through SiLU; otherwise from one token");
}

Reflections::Reflections(const std::string& name, const Options& options, const ModelConfig& config,
                         ParameterLayout& layout)
    : config_(config), convolved_(options.convolution) {
  const Index C = config.width, rank = options.rank, channels = config.heads * config.head_width();
  for (int layer = 0; layer < config.layers; ++layer) {
    const auto add = [&](const char* part, Index rows, Index cols) {
      const double bound = 1 / std::sqrt(rows);
      return layout.uniform(fmt::format("{}.{}.{}", name, layer, part), rows, cols, -bound, bound);
    };
    down_.push_back(add("down", C, rank));
    up_.push_back(add("up", rank, channels));
    if (convolved_) convolution_.push_back(add("convolution", kTaps, channels));
    strength_weights_.push_back(add("strength.weight", C, config.heads));
    strength_biases_.push_back(
        layout.constant(fmt::format("{}.{}.strength.bias", name, layer), 1, config.heads, 0));
  }
}

/// w and beta of all tokens, and the values between x and them.
struct Reflections::Directions {
  Directions(const Reflections& r, const AttentionInput& in)
      : low(in.scratch(in.length(), r.down_[in.layer].cols)),
        raw(in.scratch(in.length(), r.channels())),
        convolved(in.scratch(in.length(), r.channels())),
        unit(in.scratch(in.length(), r.channels())),
        norm(in.scratch(in.length(), r.config_.heads)),
        strength(in.scratch(in.length(), r.config_.heads)) {
    const Index T = in.length(), D = r.config_.head_width();
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
      for (Index h = 0; h < r.config_.heads; ++h) {
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
  Matrix &low, &raw, &convolved;  // (T, rank), (T, H D), (T, H D)
  Matrix& unit;                   // (T, H D): w
  Matrix& norm;                   // (T, H): the divisor of w
  Matrix& strength;               // (T, H): beta
};

void Reflections::directions_backward(const AttentionInput& in, const Directions& f, const Matrix& d_unit,
                                      const Matrix& d_strength, AttentionGradient& d) const {
  const Index T = in.length(), D = config_.head_width();
  Matrix &d_raw = in.scratch(T, channels()), &d_low = in.scratch(T, f.low.cols()),
         &d_logits = in.scratch(T, config_.heads);
  for (Index t = 0; t < T; ++t) {
    for (Index h = 0; h < config_.heads; ++h) {  // (d_w - w (w . d_w)) / norm
      const auto unit = f.unit.row(t).segment(h * D, D);
      const auto d_head = d_unit.row(t).segment(h * D, D);
      d_raw.row(t).segment(h * D, D) = (d_head - dot(unit, d_head) * unit) / f.norm(t, h);
    }
  }
  if (convolved_) {
    const auto kernel = in.parameters[convolution_[in.layer]];
    auto d_kernel = d.parameters[convolution_[in.layer]];
    Matrix& open = in.scratch(T, channels());  // SiLU'(c) = s + c s (1 - s),   s = sigmoid(c)
    sigmoid(f.convolved, open);
    d_raw.array() *= open.array() * (1 + f.convolved.array() * (1 - open.array()));
    for (Index t = 0; t < T; ++t) {
      for (Index back = 0; back <= std::min(t, kTaps - 1); ++back) {
        d_kernel.row(kTaps - 1 - back) += f.raw.row(t - back).cwiseProduct(d_raw.row(t));
      }
    }
    for (Index t = 0; t < T; ++t) {  // the rows after t are still gradients of the convolution's result
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

/// Transposes the rows first, first + 1, ... of a head's (T, D) into lanes: component e of all of them is row
/// `row` + e of m. Lanes beyond the last row are zero.
void load_lanes(const Matrix& rows, Index first, Index row, Matrix& m) {
  const Index count = std::min(kQueries, rows.rows() - first);
  auto block = m.middleRows(row, rows.cols());
  if (count < kQueries) block.setZero();
  block.leftCols(count) = rows.middleRows(first, count).transpose();
}

/// Returns x with zeros for the queries before key j. The first lane is query `first`.
QueryLanes hide_before(Index j, Index first, QueryLanes x) {
  const Lanes from = Lanes{} + static_cast<Real>(j - first);
  x.low = lane_indices() >= from ? x.low : Lanes{};
  x.high = lane_indices() + static_cast<Real>(kLanes) >= from ? x.high : Lanes{};
  return x;
}

}  // namespace

void Reflections::score(const AttentionInput& in, Heads& scores) const {
  const Index T = in.length(), D = config_.head_width();
  const Real scale = 1 / std::sqrt(static_cast<Real>(D));
  const Directions f(*this, in);
  Matrix &query = in.scratch(D, kQueries), &products = in.scratch(T, kQueries);
  for (size_t h = 0; h < scores.size(); ++h) {
    const Index column = static_cast<Index>(h) * D;
    for (Index first = 0; first < T; first += kQueries) {
      const Index count = std::min(kQueries, T - first);
      load_lanes(in.q[h], first, 0, query);
      for (Index j = first + count - 1; j >= 0; --j) {
        const Real *w = f.unit.row(j).data() + column, *k = in.k[h].row(j).data();
        QueryLanes along, product;
        for (Index e = 0; e < D; ++e) {
          const QueryLanes y = at(query, e);
          along = product_plus(y, w[e], along);
          product = product_plus(y, k[e], product);
        }
        put(scale * product, products, j);
        along = hide_before(j, first, f.strength(j, static_cast<Index>(h)) * along);
        for (Index e = 0; e < D; ++e) put(product_plus(along, -w[e], at(query, e)), query, e);
      }
      scores[h].block(first, 0, count, first + count) = products.topLeftCorner(first + count, count).transpose();
    }
  }
}

/// The queries first .. last of a head on their way to the keys.
struct Reflections::Walk {
  const Directions& f;
  Index head, width, first, last;
  Matrix& queries;  // (T D, kQueries): component e of the queries as they reach key j in row j D + e
  Matrix& alongs;   // (T, kQueries): w_j . y for the queries y at key j

  const Real* direction(Index j) const { return f.unit.row(j).data() + head * width; }

  /// Fills `queries` and `alongs`.
  void replay(const Matrix& q) const {
    load_lanes(q, first, last * width, queries);
    for (Index j = last; j >= 0; --j) {
      const Real* w = direction(j);
      QueryLanes along;
      for (Index e = 0; e < width; ++e) along = product_plus(at(queries, j * width + e), w[e], along);
      along = hide_before(j, first, along);
      put(along, alongs, j);
      if (j == 0) break;
      along = f.strength(j, head) * along;
      for (Index e = 0; e < width; ++e)
        put(product_plus(along, -w[e], at(queries, j * width + e)), queries, (j - 1) * width + e);
    }
  }

  /// The backward of product = k_j . y and y' = y - beta (w . y) w, key by key. d_query becomes the gradient
  /// of the queries.
  void backward(const Matrix& k, const Matrix& d_products, Matrix& d_query, Matrix& d_unit, Matrix& d_strength,
                Matrix& d_k) const {
    d_query.setZero();
    for (Index j = 0; j <= last; ++j) {
      const Real *w = direction(j), *key = k.row(j).data();
      const Real strength = f.strength(j, head);
      Real *d_w = d_unit.row(j).data() + head * width, *d_key = d_k.row(j).data();
      QueryLanes d_along;  // w . d_y'
      for (Index e = 0; e < width; ++e) d_along = product_plus(at(d_query, e), w[e], d_along);
      d_along = hide_before(j, first, d_along);
      const QueryLanes along = at(alongs, j), d_product = at(d_products, j);
      d_strength(j, head) -= total(along * d_along);
      const QueryLanes a = strength * d_along, b = strength * along;
      for (Index e = 0; e < width; ++e) {
        const QueryLanes y = at(queries, j * width + e), d_y = at(d_query, e);
        d_key[e] += total(d_product * y);
        d_w[e] -= total(product_plus(a, y, b * d_y));
        put(product_plus(a, -w[e], product_plus(d_product, key[e], d_y)), d_query, e);
      }
    }
  }
};

void Reflections::score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const {
  const Index T = in.length(), D = config_.head_width();
  const Real scale = 1 / std::sqrt(static_cast<Real>(D));
  const Directions f(*this, in);
  Matrix &d_unit = in.scratch(T, channels()), &d_strength = in.scratch(T, config_.heads);
  Matrix &queries = in.scratch(T * D, kQueries), &alongs = in.scratch(T, kQueries);
  Matrix &d_products = in.scratch(T, kQueries), &d_query = in.scratch(D, kQueries);
  d_unit.setZero();
  d_strength.setZero();
  for (size_t h = 0; h < d_scores.size(); ++h) {
    for (Index first = 0; first < T; first += kQueries) {
      const Index count = std::min(kQueries, T - first), last = first + count - 1;
      const Walk walk{f, static_cast<Index>(h), D, first, last, queries, alongs};
      walk.replay(in.q[h]);
      d_products.topRows(last + 1).setZero();
      d_products.topLeftCorner(last + 1, count) = scale * d_scores[h].block(first, 0, count, last + 1).transpose();
      walk.backward(in.k[h], d_products, d_query, d_unit, d_strength, d.k[h]);
      d.q[h].middleRows(first, count) += d_query.leftCols(count).transpose();
    }
  }
  directions_backward(in, f, d_unit, d_strength, d);
}

}  // namespace posbench::inline POSBENCH_REAL
