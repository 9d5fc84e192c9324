// TRA, threshold relative attention: a query attends only to the keys whose product with it is positive. The
// distance of such a key is the number of these keys from it to the query. Scores decay with distance.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "encodings/aliases.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/hidden.h"
#include "model/lanes.h"
#include "model/layers.h"

namespace posbench::tra {
namespace {

const EncodingInfo kInfo{
    .name = "tra",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = S(i, j) + n(i, j) log sigmoid(w_h . x_i + b_h), softmax over the keys with S(i, j) > 0\n"
        "S(i, j)       = max(norm(q_i) . norm(k_j) / sqrt(D), 0),   norm(y) = y / sqrt(mean of y^2 + 1e-6)\n"
        "n(i, j)       = the number of keys m from j to i with S(i, m) > 0",
    .source = "Opper et al. 2025, arXiv:2503.23174; notebook TRA_FFL of abhishekpanigrahi1996/MOSS, submission 96",
    .notes =
        "The equations are those of the notebook, which is by the authors. Only the abstract of the paper was "
        "read. A query without keys of S > 0 attends to nothing. The threshold has no gradient. b starts at 0, in "
        "the notebook at random values. The notebook's dropout of scores is left out. A wrapper with another "
        "normalization, such as entmax, never hides the query's own key.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::counted,
    .content_dependent = "query and key",
    .distance_decay = DistanceDecay::yes,
};

constexpr Real kMeanSquareEpsilon = Real(1e-6);  // added to the mean square of a query or key before its root

/// The rows of queries or keys, divided by the roots of their mean squares.
struct Normed {
  Matrix &rows, &rstd;  // (T, D); (T, 1): the factors of the rows
};
void set_norm(const In& x, Normed y) {
  const Real fraction = 1 / static_cast<Real>(x.cols());
  for (Index t = 0; t < x.rows(); ++t) {
    y.rstd(t, 0) = 1 / std::sqrt(fraction * dot(x.row(t), x.row(t)) + kMeanSquareEpsilon);
    y.rows.row(t) = y.rstd(t, 0) * x.row(t);
  }
}
/// d_x += (d_y - y times the row's mean of y d_y) rstd
void norm_backward(const Normed& y, const In& d_y, Out d_x) {
  const Real fraction = 1 / static_cast<Real>(d_y.cols());
  for (Index t = 0; t < d_y.rows(); ++t) {
    const auto row = y.rows.row(t);
    d_x.row(t) += y.rstd(t, 0) * (d_y.row(t) - fraction * dot(row, d_y.row(t)) * row);
  }
}

/// Calls f(j, s, n, count) for each block of kLanes keys from j on, the last block first. s are the products of a
/// query with these keys, n the numbers of positive products from each key to the query, and `count` is the number
/// of lanes that are keys.
template <class F>
void for_each_count(const Real* products, Index keys, F f) {
  Real later = 0;
  for (Index j = (keys - 1) / kLanes * kLanes; j >= 0; j -= kLanes) {
    const Index count = std::min(kLanes, keys - j);
    const Lanes s = load(products + j, count, 0), n = later + suffix_sums(s > 0 ? Lanes{} + 1 : Lanes{});
    f(j, s, n, count);
    later = n[0];
  }
}

class Tra final : public PositionEncoding {
 public:
  using Options = NoOptions;

  Tra(const Options&, const ModelConfig& config, ParameterLayout& layout) : PositionEncoding(config) {
    for (int layer = 0; layer < config.layers; ++layer)
      gates_.push_back(add_dense(layout, fmt::format("tra.gate.{}", layer), config.width, config.heads));
  }

  /// Hides the keys with S = 0, except for the query's own key, whose score is then 0.
  void score(const AttentionInput& in, Heads& scores) const override {
    Matrix& rates = negative_logits(in);
    softplus(rates, rates);  // -log sigmoid
    Normed q = norm_scratch(in), k = norm_scratch(in);
    for (size_t h = 0; h < scores.size(); ++h) {
      multiply_normed(in, h, q, k, scores[h]);
      for (Index i = 0; i < in.length(); ++i) {
        Real *row = scores[h].row(i).data(), slope = -rates(i, static_cast<Index>(h));
        for_each_count(row, i + 1, [&](Index j, Lanes s, Lanes n, Index count) {
          store(s > 0 ? fused(n, slope, s) : Lanes{} + kHidden, row + j, count);
        });
        if (is_hidden(row[i])) row[i] = 0;
      }
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length(), D = config_.head_width();
    Matrix &d_s = in.scratch(T, T), &d_q = in.scratch(T, D), &d_k = in.scratch(T, D);
    Matrix& d_logits = in.scratch(T, config_.heads);
    Normed q = norm_scratch(in), k = norm_scratch(in);
    for (size_t h = 0; h < d_scores.size(); ++h) {
      multiply_normed(in, h, q, k, d_s);
      for (Index i = 0; i < T; ++i) {
        const Real* d_score = d_scores[h].row(i).data();
        Real* row = d_s.row(i).data();
        Lanes d_slope{};
        for_each_count(row, i + 1, [&](Index j, Lanes s, Lanes n, Index count) {
          const Lanes passed = s > 0 ? load(d_score + j, count, 0) : Lanes{};
          d_slope = fused(n, passed, d_slope);
          store(passed, row + j, count);
        });
        d_logits(i, static_cast<Index>(h)) = sum(d_slope);
      }
      zero_future_keys(config_.causal, d_s);
      d_q.setZero();
      d_k.setZero();
      dot_product_backward(q.rows, k.rows, scale(), config_.causal, d_s, d_q, d_k);
      norm_backward(q, d_q, d.q[h]);
      norm_backward(k, d_k, d.k[h]);
    }
    Matrix& fractions = negative_logits(in);
    sigmoid(fractions, fractions);  // the derivative of log sigmoid
    d_logits.array() *= fractions.array();
    const DenseParameters& gate = gates_[in.layer];
    linear_backward(in.x, in.parameters[gate.weight], d_logits, d.x, d.parameters[gate.weight],
                    d.parameters[gate.bias]);
  }

  /// Softmax. The query's own key gets 0 if its S is 0. So does the whole row if no key has S > 0.
  void normalize(const AttentionInput& in, const Heads& scores, Heads& attention) const override {
    for (size_t h = 0; h < scores.size(); ++h) {
      Matrix& weights = attention[h];
      weights = scores[h];
      for (Index i = 1; i < in.length(); ++i) {
        const bool sees_others = weights.row(i).head(i).maxCoeff() != kHidden;
        if (sees_others && !sees_itself(in, h, i)) weights(i, i) = kHidden;
      }
      softmax(weights, config_.causal, weights);
      for (Index i = 0; i < in.length(); ++i)
        if (!sees_itself(in, h, i)) weights(i, i) = 0;
    }
  }

  void content(const AttentionInput& in, Heads& content) const override {
    Normed q = norm_scratch(in), k = norm_scratch(in);
    for (size_t h = 0; h < content.size(); ++h) {
      multiply_normed(in, h, q, k, content[h]);
      content[h] = content[h].cwiseMax(Real(0));
    }
  }

  std::vector<AttentionMap> inspect(const AttentionInput& in) const override {
    const Index T = in.length();
    AttentionMap counts{"contextual distance", Heads(config_.heads, Matrix(Matrix::Zero(T, T))),
                        AttentionMap::Kind::count};
    Normed q = norm_scratch(in), k = norm_scratch(in);
    for (size_t h = 0; h < counts.values.size(); ++h) {
      Matrix& map = counts.values[h];
      multiply_normed(in, h, q, k, map);
      for (Index i = 0; i < T; ++i) {
        Real* row = map.row(i).data();
        for_each_count(row, i + 1, [&](Index j, Lanes, Lanes n, Index count) { store(n, row + j, count); });
      }
    }
    return {counts};
  }

 private:
  Normed norm_scratch(const AttentionInput& in) const {
    return {in.scratch(in.length(), config_.head_width()), in.scratch(in.length(), 1)};
  }
  /// products(i, j) = norm(q_i) . norm(k_j) / sqrt(D) of head h
  void multiply_normed(const AttentionInput& in, size_t h, Normed q, Normed k, Matrix& products) const {
    set_norm(in.q[h], q);
    set_norm(in.k[h], k);
    dot_product(q.rows, k.rows, scale(), config_.causal, products);
  }
  /// Returns -(x W + b), (T, H).
  Matrix& negative_logits(const AttentionInput& in) const {
    const DenseParameters& gate = gates_[in.layer];
    Matrix& logits = in.scratch(in.length(), config_.heads);
    linear(in.x, in.parameters[gate.weight], in.parameters[gate.bias], logits);
    logits *= -1;
    return logits;
  }
  /// Returns whether S(i, i) > 0.
  static bool sees_itself(const AttentionInput& in, size_t h, Index i) {
    return dot(in.q[h].row(i), in.k[h].row(i)) > 0;
  }

  std::vector<DenseParameters> gates_;  // (C, H), (1, H) for each layer
};

const RegisterEncoding<Tra> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"threshold_relative_attention"}};

}  // namespace
}  // namespace posbench::tra
