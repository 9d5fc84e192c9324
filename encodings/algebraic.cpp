// Algebraic positional encoding of sequences: each head learns an orthogonal matrix, and a score multiplies the key
// by its power of the distance. RoPE is the case of a rotation of fixed pairs by fixed angles.
//
//   score_h(i, j) = decay^|i - j| q_i . W_h^(j - i) k_j / sqrt(D),   W_h = exp(B_h - B_h^T)
//
// B (H, D, D), one set for all layers, starts where W turns components 2 n and 2 n + 1 by the angles of RoPE of
// width D / 2, each used by two neighbouring pairs. Kogkalidis et al. 2023, arXiv:2312.16045;
// konstantinosKokos/ape, whose models for sequences have decay = 0.98 (decay=1 leaves it out). The part of B that
// is symmetric does nothing; it starts at zero here, at random there. Positions are 0, 1, 2, ...; the paper's
// trees and grids are not sequences.
#include <cmath>

#include "encodings/parts/rotary.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench {
namespace {

/// e^m, by its series for m / 2^n and n squarings.
RowMajor exponential(const RowMajor& m) {
  constexpr int kTerms = 18;
  const int halvings = std::max(0, static_cast<int>(std::ceil(std::log2(std::max(std::sqrt(dot(m, m)), Real(1e-30))))) + 1);
  const RowMajor small = m * std::exp2(static_cast<Real>(-halvings));
  const RowMajor identity = RowMajor::Identity(m.rows(), m.cols());
  RowMajor result = identity, product = identity;
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

/// The gradient of m from that of e^m: the upper right block of the exponential of [m^T, d; 0, m^T].
RowMajor exponential_backward(const RowMajor& m, const RowMajor& d_result) {
  const Index n = m.rows();
  RowMajor block = RowMajor::Zero(2 * n, 2 * n);
  block.topLeftCorner(n, n) = block.bottomRightCorner(n, n) = m.transpose();
  block.topRightCorner(n, n) = d_result;
  const Real size = std::max(std::sqrt(dot(d_result, d_result)), Real(1e-30));  // the block is linear in it
  block.topRightCorner(n, n) /= size;
  return exponential(block).topRightCorner(n, n) * size;
}

class Algebraic final : public PositionEncoding {
 public:
  struct Options {
    double decay = 0.98, base = 10000;
    void describe(OptionTable& o) {
      o.number("decay", decay, 0.01, 1, "scores are multiplied by this to the power of the distance");
      o.number("base", base, 1.001, 1e9, "the initial angles are RoPE's of this base");
    }
  };

  Algebraic(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : PositionEncoding(shape), decay_(options.decay) {
    require_pairs(shape, "algebraic");
    const Index D = shape.head_width();
    const double base = options.base;
    generators_ = layout.add("algebraic.generators", shape.heads * D, D, [D, base](Rng&, Index row, Index col) {
      const Index e = row % D, pair = e / 2;
      if (col / 2 != pair || col == e) return 0.0;
      const double angle = std::pow(base, -4.0 * static_cast<double>(pair / 2) / static_cast<double>(D));
      return (col > e ? 1 : -1) * angle / 2;
    });
  }

  /// Values: for each head W^t, flattened, (T, D D).
  void tables(const Parameters& p, const Positions& positions, Tables& tables) const override {
    const Index T = positions.size(), D = shape_.head_width();
    tables.values.resize(static_cast<size_t>(shape_.heads));
    for (Index h = 0; h < shape_.heads; ++h) {
      const RowMajor w = exponential(generator(p, h));
      Matrix& powers = tables.values[static_cast<size_t>(h)];
      powers.resize(T, D * D);
      view(powers, 0) = RowMajor::Identity(D, D);
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
    const Index D = shape_.head_width();
    for (Index h = 0; h < shape_.heads; ++h) {
      const RowMajor generator = this->generator(p, h), w = exponential(generator);
      const Matrix& powers = tables.values[static_cast<size_t>(h)];
      RowMajor d_power = RowMajor::Zero(D, D), d_w = d_power, product(D, D);  // of W^t, from t = T - 1 downwards
      for (Index t = powers.rows() - 1; t > 0; --t) {
        d_power += view(d_tables[static_cast<size_t>(h)], t);
        multiply_add(view(powers, t - 1).transpose(), d_power, d_w);
        multiply(d_power, w.transpose(), product);
        d_power = product;
      }
      const RowMajor d_generator = exponential_backward(generator, d_w);
      d[generators_].middleRows(h * D, D) += d_generator - d_generator.transpose();
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Index T = in.length(), D = shape_.head_width();
    Matrix &q = in.scratch(T, D), &k = in.scratch(T, D);
    for (size_t h = 0; h < scores.size(); ++h) {
      turn(in.tables.values[h], in.q[h], q);
      turn(in.tables.values[h], in.k[h], k);
      dot_product(q, k, scale(), shape_.causal, scores[h]);
      for (Index i = 0; i < T; ++i) {
        const Index keys = visible(i, T, shape_.causal);
        scores[h].row(i).head(keys).array() *= in.tables.constants<Constants>().decay.row(i).head(keys).array();
      }
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length(), D = shape_.head_width();
    Matrix &q = in.scratch(T, D), &k = in.scratch(T, D), &d_q = in.scratch(T, D), &d_k = in.scratch(T, D);
    Matrix& d_products = in.scratch(T, T);
    for (size_t h = 0; h < d_scores.size(); ++h) {
      turn(in.tables.values[h], in.q[h], q);
      turn(in.tables.values[h], in.k[h], k);
      d_products.array() =
          d_scores[h].array() * in.tables.constants<Constants>().decay.topLeftCorner(T, T).array();
      d_q.setZero();
      d_k.setZero();
      dot_product_backward(q, k, scale(), shape_.causal, d_products, d_q, d_k);
      turn_backward(in.tables.values[h], in.q[h], d_q, d.q[h], d.tables[h]);
      turn_backward(in.tables.values[h], in.k[h], d_k, d.k[h], d.tables[h]);
    }
  }

 private:
  struct Constants {
    Matrix decay;  // (T, T), of each pair
  };

  ConstMatrixView view(const Matrix& powers, Index t) const {
    return {powers.row(t).data(), shape_.head_width(), shape_.head_width()};
  }
  MatrixView view(Matrix& powers, Index t) const {
    return {powers.row(t).data(), shape_.head_width(), shape_.head_width()};
  }
  /// B - B^T
  RowMajor generator(const Parameters& p, Index h) const {
    const Index D = shape_.head_width();
    const RowMajor b = p[generators_].middleRows(h * D, D);
    return b - b.transpose();
  }

  /// y_t = W^t x_t
  void turn(const Matrix& powers, const Matrix& x, Matrix& y) const {
    for (Index t = 0; t < x.rows(); ++t) multiply(x.row(t), view(powers, t).transpose(), y.row(t));
  }
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

const RegisterEncoding<Algebraic> registered{{
    .name = "algebraic",
    .family = Family::rotary,
    .equation = "score_h(i, j) = 0.98^|i - j| q_i . W_h^(j - i) k_j / sqrt(D),   W_h = exp(B_h - B_h^T)",
    .source = "Kogkalidis et al. 2023, arXiv:2312.16045; konstantinosKokos/ape",
    .notes =
        "The encoding of sequences. Only the code of its sequence models has the decay: decay=1 leaves it "
        "out.",
    .touches = "R",
    .learned = true,
    .extrapolates = {Extrapolation::yes, "but defined with decay=1"},
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"decay=1"},
}};

}  // namespace
}  // namespace posbench
