// Geometric attention replaces the softmax. A query visits its keys by distance, and each key takes a fraction of
// the attention that is left, so that the nearest strong match wins on either side.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "encodings/parts/stick.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/layers.h"

namespace posbench::geometric {
namespace {

const EncodingInfo kInfo{
    .name = "geometric",
    .family = Family::attention_variant,
    .equation =
        "A(i, j)   = w(i, j) / (w(i, 0) + w(i, 1) + ...)\n"
        "w(i, j)   = sigmoid(z(i, j)) times the product of 1 - sigmoid(z(i, m)) over the keys m visited before j\n"
        "z_h(i, j) = alpha q_i . k_j + beta + (l_h . x_i + l'_h if j < i, r_h . x_i + r'_h if j > i)\n"
        "order of visits: i + 1, i - 1, i + 2, i - 2, ...; a query does not visit itself",
    .source = "Csordas et al. 2021, arXiv:2110.07732; RobertCsordas/ndr",
    .notes =
        "alpha (1 / sqrt(D) at the start) and beta (0 at the start) are one for each layer. l_h and r_h absorb "
        "the code's factor for the preferred direction, and the bias of the queries absorbs its bias of the "
        "queries. Published for bidirectional models; a causal model visits keys backwards, which is "
        "stick-breaking attention with normalized rows. A query without keys attends to nothing.",
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::order_of_keys,
    .content_dependent = "query and key",
    .distance_decay = DistanceDecay::yes,
};

constexpr Real kMinSum = Real(1e-12);  // lower bound of the divisor of a row

class Geometric final : public PositionEncoding {
 public:
  using Options = NoOptions;

  Geometric(const Options&, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config), sides_(config.causal ? 1 : 2) {
    const Index columns = sides_ * config.heads;
    const double deviation = std::sqrt(2.0 / (config.width + 2));  // Glorot's for two outputs
    for (int layer = 0; layer < config.layers; ++layer) {
      const std::string name = fmt::format("geometric.{}.", layer);
      alphas_.push_back(layout.constant(name + "alpha", 1, 1, 1 / std::sqrt(config.head_width())));
      betas_.push_back(layout.constant(name + "beta", 1, 1, 0));
      weights_.push_back(layout.normal(name + "direction.weight", config.width, columns, deviation));
      biases_.push_back(layout.constant(name + "direction.bias", 1, columns, 0));
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Real beta = in.parameters[betas_[in.layer]](0, 0);
    Matrix& direction = in.scratch(in.length(), weights_[in.layer].cols);
    linear(in.x, in.parameters[weights_[in.layer]], in.parameters[biases_[in.layer]], direction);
    content(in, scores);
    for (size_t h = 0; h < scores.size(); ++h) {
      for (Index i = 0; i < in.length(); ++i) {
        auto row = scores[h].row(i).array();
        row.head(i) += beta + direction(i, left(h));
        if (!config_.causal) row.tail(in.length() - i - 1) += beta + direction(i, right(h));
      }
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length(), D = config_.head_width();
    const Real alpha = in.parameters[alphas_[in.layer]](0, 0);
    Matrix &d_direction = in.scratch(T, weights_[in.layer].cols), &d_q = in.scratch(T, D), &d_k = in.scratch(T, D);
    for (size_t h = 0; h < d_scores.size(); ++h) {
      d_q.setZero();
      d_k.setZero();
      dot_product_backward(in.q[h], in.k[h], 1, config_.causal, d_scores[h], d_q, d_k);
      d.q[h] += alpha * d_q;
      d.k[h] += alpha * d_k;
      d.parameters[alphas_[in.layer]](0, 0) += kernels().dot(d_q.data(), in.q[h].data(), d_q.size());
      for (Index i = 0; i < T; ++i) {
        const Real* row = d_scores[h].row(i).data();
        d_direction(i, left(h)) = kernels().sum(row, i);
        if (!config_.causal) d_direction(i, right(h)) = kernels().sum(row + i + 1, T - i - 1);
      }
    }
    d.parameters[betas_[in.layer]](0, 0) += kernels().sum(d_direction.data(), d_direction.size());
    linear_backward(in.x, in.parameters[weights_[in.layer]], d_direction, d.x, d.parameters[weights_[in.layer]],
                    d.parameters[biases_[in.layer]]);
  }

  void content(const AttentionInput& in, Heads& content) const override {
    const Real alpha = in.parameters[alphas_[in.layer]](0, 0);
    for (size_t h = 0; h < content.size(); ++h) dot_product(in.q[h], in.k[h], alpha, config_.causal, content[h]);
  }

  void normalize(const AttentionInput& in, const Heads& scores, Heads& attention) const override {
    PaddedRow fraction(in.scratch(1, 1), in.length()), weight(in.scratch(1, 1), in.length());
    for (size_t h = 0; h < scores.size(); ++h) {
      for (Index i = 0; i < in.length(); ++i) {
        const Index keys = num_visible_keys(i, in.length(), config_.causal);
        set_fractions(scores[h].row(i).data(), keys, fraction);
        weight.resize(keys);
        break_stick(fraction, i, weight);
        const Real all = kernels().sum(weight.data(), keys);
        copy_row(weight, 1 / std::max(all, kMinSum), in.length(), attention[h].row(i).data());
      }
    }
  }
  void normalize_backward(const AttentionInput& in, const Heads& scores, const Heads& attention,
                          const Heads& d_attention, Heads& d_scores, AttentionGradient&) const override {
    const Index T = in.length();
    PaddedRow fraction(in.scratch(1, 1), T), gain(in.scratch(1, 1), T), d_logit(in.scratch(1, 1), T);
    for (size_t h = 0; h < scores.size(); ++h) {
      for (Index i = 0; i < T; ++i) {
        const Index keys = num_visible_keys(i, T, config_.causal);
        const Real *weight = attention[h].row(i).data(), *d_weight = d_attention[h].row(i).data();
        // A = w / sum(w):   d_w w = A (d_A - sum of A d_A), without the sum if w was not divided by its sum
        const bool divided = kernels().sum(weight, keys) > Real(0.999);
        const Real along = divided ? kernels().dot(weight, d_weight, keys) : 0;
        set_fractions(scores[h].row(i).data(), keys, fraction);
        gain.resize(keys);
        for_each_lanes(keys, [&](Index j, Index count) {
          store(load(weight + j, count, 0) * (load(d_weight + j, count, 0) - along), gain.data() + j);
        });
        d_logit.resize(keys);
        break_stick_backward(fraction, gain, i, d_logit);
        copy_row(d_logit, 1, T, d_scores[h].row(i).data());
      }
    }
  }

 private:
  Index left(size_t h) const { return static_cast<Index>(h) * sides_; }
  Index right(size_t h) const { return left(h) + 1; }

  Index sides_;  // 1: left; 2: left and right
  // For each layer (1, 1), (1, 1), (C, H sides), (1, H sides):
  std::vector<Parameter> alphas_, betas_, weights_, biases_;
};

const RegisterEncoding<Geometric> registered{kInfo};

}  // namespace
}  // namespace posbench::geometric
