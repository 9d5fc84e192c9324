// Multiplies keys by powers of a learned orthogonal matrix. The exponent is the distance.
#include <algorithm>
#include <cmath>

#include "encodings/parts/rotary.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench::algebraic {
namespace {

const EncodingInfo kInfo{
    .name = "algebraic",
    .family = Family::rotary,
    .equation =
        "score_h(i, j) = decay^|i - j| q_i . W_h^(j - i) k_j / sqrt(D),   W_h = exp(B_h - B_h^T)\n"
        "B (H, D, D) learned, one set for all layers",
    .source = "Kogkalidis et al. 2023, arXiv:2312.16045; konstantinosKokos/ape",
    .notes =
        "RoPE is the special case in which W rotates fixed pairs by fixed angles. At the start W turns "
        "components 2n and 2n + 1 by the angles of RoPE of width D / 2; two neighboring pairs share an "
        "angle. Only the code of the sequence models has the decay of 0.98; decay=1 omits it. The "
        "symmetric part of B has no effect; it starts at zero here and at random in the code. Positions "
        "are 0, 1, 2, ...; the paper's trees and grids are not sequences.",
    .learned = true,
    .extrapolates = {Extrapolation::yes, "but defined with decay=1"},
    .relative = Relative::yes,
    .content_dependent = "no",
    .kernel = Kernel::any,
    .variants = {"decay=1"},
};

/// Returns e^m, by its series for m / 2^n and n squarings.
EigenMatrix exponential(const EigenMatrix& m) {
  constexpr int kTerms = 18;
  const int halvings =
      std::max(0, static_cast<int>(std::ceil(std::log2(std::max(std::sqrt(dot(m, m)), Real(1e-30))))) + 1);
  const EigenMatrix small = m * std::exp2(static_cast<Real>(-halvings));
  const EigenMatrix identity = EigenMatrix::Identity(m.rows(), m.cols());
  EigenMatrix result = identity, product = identity;
  for (int n = kTerms; n > 0; --n) {
    multiply(small, result, product);
    result = identity + product / static_cast<Real>(n);
  }
  for (int n = 0; n < halvings; ++n) {
    multiply(result, result, product);
    result = product;
  }
  return result;
}

/// Returns the gradient of m for the gradient d of e^m: the upper right block of the exponential of [m^T, d; 0,
/// m^T].
EigenMatrix exponential_backward(const EigenMatrix& m, const EigenMatrix& d_result) {
  const Index n = m.rows();
  EigenMatrix block = EigenMatrix::Zero(2 * n, 2 * n);
  block.topLeftCorner(n, n) = block.bottomRightCorner(n, n) = m.transpose();
  block.topRightCorner(n, n) = d_result;
  // The gradient is linear in d, so that d may be scaled to size 1.
  const Real size = std::max(std::sqrt(dot(d_result, d_result)), Real(1e-30));
  block.topRightCorner(n, n) /= size;
  return exponential(block).topRightCorner(n, n) * size;
}

class Algebraic final : public PositionEncoding {
 public:
  struct Options {
    double decay = 0.98, base = 10000;
    void describe(OptionTable& o) {
      o.number("decay", decay, 0.01, 1, "factor of a score for each token of distance");
      o.number("base", base, 1.001, 1e9, "base of the initial angles, which are RoPE's");
    }
  };

  Algebraic(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config), decay_(options.decay) {
    require_pairs(config, "algebraic");
    const Index D = config.head_width();
    const double base = options.base;
    generators_ = layout.add("algebraic.generators", config.heads * D, D, [D, base](Rng&, Index row, Index col) {
      const Index e = row % D, pair = e / 2;
      if (col / 2 != pair || col == e) return 0.0;
      const double angle = std::pow(base, -4.0 * static_cast<double>(pair / 2) / static_cast<double>(D));
      return (col > e ? 1 : -1) * angle / 2;
    });
  }

  /// The values are W^t for each head, flattened, (T, D D).
  void tables(const Parameters& p, const Positions& positions, Tables& tables) const override {
    const Index T = positions.size(), D = config_.head_width();
    tables.values.resize(static_cast<size_t>(config_.heads));
    for (Index h = 0; h < config_.heads; ++h) {
      const EigenMatrix w = exponential(generator(p, h));
      Matrix& powers = tables.values[static_cast<size_t>(h)];
      powers.resize(T, D * D);
      view(powers, 0) = EigenMatrix::Identity(D, D);
      for (Index t = 1; t < T; ++t) multiply(view(powers, t - 1), w, view(powers, t));
    }
    Matrix& decay = tables.constants<Constants>().decay;
    decay.resize(T, T);
    for (Index i = 0; i < T; ++i) {
      for (Index j = 0; j < T; ++j)
        decay(i, j) = static_cast<Real>(std::pow(decay_, static_cast<double>(std::abs(i - j))));
    }
  }
  void tables_backward(const Parameters& p, const Positions&, const Tables& tables, const Matrices& d_tables,
                       Gradients& d) const override {
    const Index D = config_.head_width();
    for (Index h = 0; h < config_.heads; ++h) {
      const EigenMatrix generator = this->generator(p, h), w = exponential(generator);
      const Matrix& powers = tables.values[static_cast<size_t>(h)];
      EigenMatrix d_power = EigenMatrix::Zero(D, D);  // gradient of W^t, from t = T - 1 downwards
      EigenMatrix d_w = d_power, product(D, D);
      for (Index t = powers.rows() - 1; t > 0; --t) {
        d_power += view(d_tables[static_cast<size_t>(h)], t);
        multiply_add(view(powers, t - 1).transpose(), d_power, d_w);
        multiply(d_power, w.transpose(), product);
        d_power = product;
      }
      const EigenMatrix d_generator = exponential_backward(generator, d_w);
      d[generators_].middleRows(h * D, D) += d_generator - d_generator.transpose();
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Index T = in.length(), D = config_.head_width();
    Matrix &q = in.scratch(T, D), &k = in.scratch(T, D);
    for (size_t h = 0; h < scores.size(); ++h) {
      turn(in.tables.values[h], in.q[h], q);
      turn(in.tables.values[h], in.k[h], k);
      dot_product(q, k, scale(), config_.causal, scores[h]);
      for (Index i = 0; i < T; ++i) {
        const Index keys = num_visible_keys(i, T, config_.causal);
        scores[h].row(i).head(keys).array() *= in.tables.constants<Constants>().decay.row(i).head(keys).array();
      }
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length(), D = config_.head_width();
    Matrix &q = in.scratch(T, D), &k = in.scratch(T, D), &d_q = in.scratch(T, D), &d_k = in.scratch(T, D);
    Matrix& d_products = in.scratch(T, T);
    for (size_t h = 0; h < d_scores.size(); ++h) {
      turn(in.tables.values[h], in.q[h], q);
      turn(in.tables.values[h], in.k[h], k);
      d_products.array() =
          d_scores[h].array() * in.tables.constants<Constants>().decay.topLeftCorner(T, T).array();
      d_q.setZero();
      d_k.setZero();
      dot_product_backward(q, k, scale(), config_.causal, d_products, d_q, d_k);
      turn_backward(in.tables.values[h], in.q[h], d_q, d.q[h], d.tables[h]);
      turn_backward(in.tables.values[h], in.k[h], d_k, d.k[h], d.tables[h]);
    }
  }

 private:
  struct Constants {
    Matrix decay;  // (T, T)
  };

  ConstMatrixView view(const Matrix& powers, Index t) const {
    return {powers.row(t).data(), config_.head_width(), config_.head_width()};
  }
  MatrixView view(Matrix& powers, Index t) const {
    return {powers.row(t).data(), config_.head_width(), config_.head_width()};
  }
  /// Returns B - B^T of head h.
  EigenMatrix generator(const Parameters& p, Index h) const {
    const Index D = config_.head_width();
    const EigenMatrix b = p[generators_].middleRows(h * D, D);
    return b - b.transpose();
  }

  /// y_t = W^t x_t
  void turn(const Matrix& powers, const Matrix& x, Matrix& y) const {
    for (Index t = 0; t < x.rows(); ++t) multiply(x.row(t), view(powers, t).transpose(), y.row(t));
  }
  /// d_x_t += (W^t)^T d_y_t,   d_W^t += d_y_t x_t^T
  void turn_backward(const Matrix& powers, const Matrix& x, const Matrix& d_y, Matrix& d_x,
                     Matrix& d_powers) const {
    for (Index t = 0; t < x.rows(); ++t) {
      multiply_add(d_y.row(t), view(powers, t), d_x.row(t));
      multiply_add(d_y.row(t).transpose(), x.row(t), view(d_powers, t));
    }
  }

  double decay_;
  Parameter generators_;  // B (H D, D), head by head
};

const RegisterEncoding<Algebraic> registered{kInfo};

}  // namespace
}  // namespace posbench::algebraic
