// GRAPE-AP: a penalty that is a sum over the tokens between key and query, by how well the query agrees with each
// of them.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "encodings/parts/rotary.h"
#include "encodings/parts/slopes.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/layers.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench::grape_ap {
namespace {

const EncodingInfo kInfo{
    .name = "grape_ap",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) + m_h sum over j < l <= i of log sigmoid(p_i . R(l) p'_l / P)\n"
        "p_t           = x_t W_h (P),   p'_t = p_t / sqrt(mean(p_t^2) + 1.2e-7)\n"
        "R(l) rotates all pairs by -l radians;   m_h: ALiBi's slopes",
    .source = "Zhang et al. 2025, arXiv:2512.07805; model-architectures/GRAPE, llama-mha-grape-ap-v1",
    .notes =
        "As in the code, the query's side is neither normalized nor rotated, so that absolute positions "
        "matter. P = 8 as in its experiments; W of each layer starts at N(0, 0.5 C^-0.5). The code can also "
        "take p from queries, keys or values, which is left out. By default it normalizes queries and keys, "
        "which model.qk_norm=true does.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::no,
    .content_dependent = "token",
    .distance_decay = DistanceDecay::yes,
    .cached = "H P values p",
    .variants = {"width=2"},
};

constexpr Real kEpsilon = Real(1.1920929e-7);

/// Returns the columns of head h.
template <class M>
auto of_head(M& p, Index h, Index width) {
  return p.middleCols(h * width, width);
}

class GrapeAp final : public PositionEncoding {
 public:
  struct Options {
    int width = 8;
    void describe(OptionTable& o) {
      o.integer("width", width, 2, 4096, "P, the width of a token's projection; even");
    }
  };

  GrapeAp(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config), width_(options.width), slopes_(alibi_slopes(config.heads)) {
    if (width_ % 2 != 0) {
      throw InputError(fmt::format("encoding 'grape_ap': width is {}, expected an even number", width_));
    }
    for (int layer = 0; layer < config.layers; ++layer) {
      projections_.push_back(layout.normal(fmt::format("grape_ap.projection.{}", layer), config.width,
                                           config.heads * width_, 0.5 / std::sqrt(config.width)));
    }
  }

  void tables(const Parameters&, const Positions& positions, Tables& tables) const override {
    Constants& c = tables.constants<Constants>();
    c.cosine.resize(positions.size(), width_ / 2);
    c.sine.resize(positions.size(), width_ / 2);
    for (Index t = 0; t < positions.size(); ++t) {
      c.cosine.row(t).setConstant(static_cast<Real>(std::cos(static_cast<double>(positions.at[t]))));
      c.sine.row(t).setConstant(static_cast<Real>(-std::sin(static_cast<double>(positions.at[t]))));
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    PositionEncoding::score(in, scores);
    const Index T = in.length();
    Matrix &p = in.scratch(T, config_.heads * width_), &turned = in.scratch(T, width_),
           &agreement = in.scratch(T, T);
    multiply(in.x, in.parameters[projections_[in.layer]], p);
    for (Index h = 0; h < config_.heads; ++h) {
      turn(in, of_head(p, h, width_), turned);
      dot_product(of_head(p, h, width_), turned, Real(1) / static_cast<Real>(width_), /*causal=*/true, agreement);
      for (Index i = 0; i < T; ++i) {
        Real sum = 0;
        for (Index j = i; j >= 0; --j) {
          scores[h](i, j) += sum;
          sum -= static_cast<Real>(slopes_[h]) * softplus(-agreement(i, j));
        }
      }
    }
  }

  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    PositionEncoding::score_backward(in, d_scores, d);
    const Index T = in.length();
    Matrix &p = in.scratch(T, config_.heads * width_), &turned = in.scratch(T, width_),
           &agreement = in.scratch(T, T);
    Matrix &d_p = in.scratch(T, config_.heads * width_), &d_turned = in.scratch(T, width_),
           &d_unit = in.scratch(T, width_);
    multiply(in.x, in.parameters[projections_[in.layer]], p);
    d_p.setZero();
    for (Index h = 0; h < config_.heads; ++h) {
      turn(in, of_head(p, h, width_), turned);
      dot_product(of_head(p, h, width_), turned, Real(1) / static_cast<Real>(width_), /*causal=*/true, agreement);
      for (Index i = 0; i < T; ++i) {  // `agreement` becomes its gradient
        Real sum = 0;
        for (Index j = 0; j <= i; ++j) {
          agreement(i, j) = sum * static_cast<Real>(slopes_[h]) / (1 + std::exp(agreement(i, j)));
          sum += d_scores[h](i, j);
        }
      }
      zero_future_keys(/*causal=*/true, agreement);
      d_turned.setZero();
      dot_product_backward(of_head(p, h, width_), turned, Real(1) / static_cast<Real>(width_), /*causal=*/true,
                           agreement, of_head(d_p, h, width_), d_turned);
      d_unit.setZero();
      const Constants& c = in.tables.constants<Constants>();
      rotate_backward(d_turned, c.cosine.topRows(T), c.sine.topRows(T), Pairing::half_split, d_unit);
      for (Index t = 0; t < T; ++t) {
        const auto row = of_head(p, h, width_).row(t);
        const Real s = inverse_size(row), along = dot(row, d_unit.row(t)) / static_cast<Real>(width_);
        of_head(d_p, h, width_).row(t) += s * d_unit.row(t) - s * s * s * along * row;
      }
    }
    multiply_add(d_p, in.parameters[projections_[in.layer]].transpose(), d.x);
    multiply_add(in.x.transpose(), d_p, d.parameters[projections_[in.layer]]);
  }

 private:
  struct Constants {
    Matrix cosine, sine;  // (T, P / 2)
  };

  template <class Row>
  Real inverse_size(const Row& row) const {
    return 1 / std::sqrt(dot(row, row) / static_cast<Real>(width_) + kEpsilon);
  }

  /// turned_t = R(t) p'_t
  template <class P>
  void turn(const AttentionInput& in, const P& p, Matrix& turned) const {
    const Index T = in.length();
    const Constants& c = in.tables.constants<Constants>();
    Matrix& unit = in.scratch(T, width_);
    for (Index t = 0; t < T; ++t) unit.row(t) = inverse_size(p.row(t)) * p.row(t);
    rotate(unit, c.cosine.topRows(T), c.sine.topRows(T), Pairing::half_split, turned);
  }

  int width_;                           // P
  std::vector<double> slopes_;          // (H)
  std::vector<Parameter> projections_;  // W (C, H P), one for each layer
};

const RegisterEncoding<GrapeAp> registered{kInfo};

}  // namespace
}  // namespace posbench::grape_ap
