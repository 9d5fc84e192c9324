// GRAPE-AP: a penalty that is a sum over the tokens between key and query, by how well the query agrees with each
// of them.
//
//   score_h(i, j) = q_i . k_j / sqrt(D) + m_h times the sum over j < l <= i of log sigmoid(p_i . R(l) p'_l / P)
//   p_t           = x_t W_h (P),   p'_t = p_t / sqrt(mean(p_t^2) + 1.2e-7),   R(l) turns all pairs by -l radians
//
// m_h: ALiBi's slopes; W (C, H P) of each layer, N(0, 0.5 C^-0.5). Zhang et al. 2025, arXiv:2512.07805;
// model-architectures/GRAPE, file llama-mha-grape-ap-v1, with P = 8 as in its experiments. The query's side is
// neither normalized nor rotated there, so that scores depend on the position of l, not on its distance alone.
#include <cmath>

#include "encodings/parts/rotary.h"
#include "encodings/parts/slopes.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/layers.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench {
namespace {

constexpr Real kLeastSquare = Real(1.1920929e-7);

/// Columns of head h.
template <class M>
auto of_head(M& p, Index h, Index width) {
  return p.middleCols(h * width, width);
}

class GrapeAp final : public PositionEncoding {
 public:
  struct Options {
    int width = 8;
    void describe(OptionTable& o) {
      o.integer("width", width, 2, 4096, "P, even: what positions see of each token");
    }
  };

  GrapeAp(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : PositionEncoding(shape), width_(options.width), slopes_(alibi_slopes(shape.heads)) {
    if (width_ % 2 != 0) {
      throw std::invalid_argument(
          fmt::format("encoding 'grape_ap': width is {}, expected an even number", width_));
    }
    for (int layer = 0; layer < shape.layers; ++layer) {
      projections_.push_back(layout.normal(fmt::format("grape_ap.projection.{}", layer), shape.width,
                                           shape.heads * width_, 0.5 / std::sqrt(shape.width)));
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
    Matrix &p = in.scratch(T, shape_.heads * width_), &turned = in.scratch(T, width_),
           &agreement = in.scratch(T, T);
    multiply(in.x, in.parameters[projections_[in.layer]], p);
    for (Index h = 0; h < shape_.heads; ++h) {
      turn(in, of_head(p, h, width_), turned);
      dot_product(of_head(p, h, width_), turned, Real(1) / static_cast<Real>(width_), true, agreement);
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
    Matrix &p = in.scratch(T, shape_.heads * width_), &turned = in.scratch(T, width_),
           &agreement = in.scratch(T, T);
    Matrix &d_p = in.scratch(T, shape_.heads * width_), &d_turned = in.scratch(T, width_),
           &d_unit = in.scratch(T, width_);
    multiply(in.x, in.parameters[projections_[in.layer]], p);
    d_p.setZero();
    for (Index h = 0; h < shape_.heads; ++h) {
      turn(in, of_head(p, h, width_), turned);
      dot_product(of_head(p, h, width_), turned, Real(1) / static_cast<Real>(width_), true, agreement);
      for (Index i = 0; i < T; ++i) {  // agreement becomes its gradient
        Real sum = 0;
        for (Index j = 0; j <= i; ++j) {
          agreement(i, j) = sum * static_cast<Real>(slopes_[h]) / (1 + std::exp(agreement(i, j)));
          sum += d_scores[h](i, j);
        }
      }
      hide_later(true, agreement);
      d_turned.setZero();
      dot_product_backward(of_head(p, h, width_), turned, Real(1) / static_cast<Real>(width_), true, agreement,
                           of_head(d_p, h, width_), d_turned);
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
    return 1 / std::sqrt(dot(row, row) / static_cast<Real>(width_) + kLeastSquare);
  }

  /// R(t) p'_t for all t.
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

const RegisterEncoding<GrapeAp> registered{{
    .name = "grape_ap",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) + m_h times the sum over j < l <= i of log sigmoid(p_i . R(l) "
        "p'_l / P),   p_t = x_t W_h",
    .source = "Zhang et al. 2025, arXiv:2512.07805; model-architectures/GRAPE",
    .notes =
        "As the code: the query's side is not rotated, so that absolute positions matter. The code can also take p "
        "from queries, keys or values, which is left out.",
    .causal_only = true,
    .touches = "B",
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::no,
    .content_dependent = "token",
    .distance_decay = DistanceDecay::yes,
    .variants = {"width=2"},
}};

}  // namespace
}  // namespace posbench
