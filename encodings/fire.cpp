// FIRE: a small network of the distance, as a fraction of the query's own position, gives the bias.
//
//   score_h(i, j) = q_i . k_j / sqrt(D) + f_h(xi)
//   xi            = psi(i - j) / (psi(max(i, |mu| L)) + 1e-6),   psi(n) = log(|c| n + 1)
//   f(xi)         = W2 a(xi w1 + b1) + b2,   1 -> hidden -> H
//
// c (from 0.1), mu (from 1) and the network are learned, for each layer; shared_layers=true is the paper's FIRE-S,
// from memory. W and b start uniform over +- 1 / sqrt(inputs). i counts from 0. a is the ReLU, or the LeakyReLU of
// 0.01 that DAPE's code has inside FIRE.
//
// Below the threshold |mu| L the bias is a function of distance alone; beyond, distances are fractions of i, so
// that xi stays within [0, 1) at every length. The paper's L is 512 (threshold=512), which short sequences never
// reach: nothing would be normalized, and longer ones would bring xi that training has not seen. Our default,
// threshold=0, is half of the trained length. DAPE's training code passes 128 and halves it.
//
// Li et al. 2023, arXiv:2310.04418, section 3; its appendix's listing as it survives in VITA-Group/TAPE and
// chuanyang-Zheng/DAPE. No code of the authors' was found. The paper is causal: with keys after the query its xi is
// undefined. For bidirectional models, ours: distances are fractions of the later one of the two positions, and
// negative for keys after the query,
//
//   xi = +- psi(|i - j|) / (psi(max(i, j, |mu| L)) + 1e-6)
//
// so that a pair's bias does not depend on the length, and equals the causal one for keys before the query.
// sides=symmetric leaves the sign out: left and right are then alike.
#include <cmath>

#include "encodings/parts/additive_bias.h"
#include "encodings/parts/distances.h"
#include "encodings/registry.h"
#include "model/layers.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench {
namespace {

enum class Activation { relu, leaky_relu };
enum class Sides { distinct, symmetric };
constexpr Real kEpsilon = 1e-6;
constexpr Index kApart = 24;  // rows whose strides are powers of two would push each other out of the cache

class Fire final : public AdditiveBias {
 public:
  struct Options {
    int hidden = 32;
    double threshold = 0;
    Activation activation = Activation::relu;
    bool shared_layers = false;
    Sides sides = Sides::distinct;
    void describe(OptionTable& o) {
      o.integer("hidden", hidden, 1, 4096, "width of the network");
      o.number("threshold", threshold, 0, 1e9, "L, 512 in the paper; 0: half of the trained length");
      o.choice("activation", activation, {"relu", "leaky_relu"}, "of the network; leaky_relu as in DAPE's code");
      o.flag("shared_layers", shared_layers, "one network for all layers");
      o.choice("sides", sides, {"distinct", "symmetric"}, "bidirectional models: whether left differs from right");
    }
  };

  Fire(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : AdditiveBias(shape),
        options_(options),
        threshold_(
            static_cast<Real>(options.threshold > 0 ? options.threshold : std::max(1, shape.trained_length / 2))) {
    const Index hidden = options.hidden;
    const double bound = 1 / std::sqrt(static_cast<double>(hidden));
    for (int layer = 0; layer < (options.shared_layers ? 1 : shape.layers); ++layer) {
      const std::string suffix = options.shared_layers ? "" : fmt::format(".{}", layer);
      networks_.push_back({.c = layout.constant("fire.c" + suffix, 1, 1, 0.1),
                           .mu = layout.constant("fire.mu" + suffix, 1, 1, 1),
                           .w1 = layout.uniform("fire.w1" + suffix, 1, hidden, -1, 1),
                           .b1 = layout.uniform("fire.b1" + suffix, 1, hidden, -1, 1),
                           .w2 = layout.uniform("fire.w2" + suffix, hidden, shape.heads, -bound, bound),
                           .b2 = layout.uniform("fire.b2" + suffix, 1, shape.heads, -bound, bound)});
    }
  }

  bool per_layer() const override { return !options_.shared_layers; }
  bool learned() const override { return true; }

  void bias(const Parameters& p, const Positions& positions, Matrices& bias) const override {
    const Index T = positions.size(), H = shape_.heads;
    Workspace work(T, options_.hidden, H);
    for (size_t n = 0; n < networks_.size(); ++n) {
      for_each_row(p, networks_[n], positions, [&](Side side, Index first, Index i) {
        row(p, networks_[n], positions, side, i, work);
        auto output = work.output.leftCols(i + 1);
        multiply(p[networks_[n].w2].transpose(), work.activated.leftCols(i + 1), output);
        output.colwise() += p[networks_[n].b2].row(0).transpose();
        for (Index h = 0; h < H; ++h) {
          Matrix& of_head = bias[n * H + h];
          for (Index m = first; m <= i; ++m) {
            if (side == Side::before) {
              of_head.row(m).head(m + 1) = output.row(h).tail(m + 1);
            } else {
              of_head.col(m).head(m) = output.row(h).tail(m + 1).head(m).transpose();
            }
          }
        }
      });
    }
  }

  void bias_backward(const Parameters& p, const Positions& positions, const Matrices& d_bias,
                     Gradients& d) const override {
    const Index T = positions.size(), H = shape_.heads;
    Workspace work(T, options_.hidden, H);
    for (size_t n = 0; n < networks_.size(); ++n) {
      const Network& net = networks_[n];
      const Real c = p[net.c](0, 0), mu = p[net.mu](0, 0), rate = std::abs(c);
      for_each_row(p, net, positions, [&](Side side, Index first, Index i) {
        const Index keys = i + 1;
        const Row r = row(p, net, positions, side, i, work);
        auto d_output = work.output.leftCols(keys), hidden = work.hidden.leftCols(keys);
        auto activated = work.activated.leftCols(keys);
        for (Index h = 0; h < H; ++h) {
          const Matrix& of_head = d_bias[n * H + h];
          if (side == Side::before) {
            d_output.row(h) = of_head.row(i).head(keys);
            for (Index m = first; m < i; ++m) d_output.row(h).tail(m + 1) += of_head.row(m).head(m + 1);
          } else {
            d_output.row(h).setZero();
            for (Index m = first; m <= i; ++m)
              d_output.row(h).tail(m + 1).head(m) += of_head.col(m).head(m).transpose();
          }
        }
        multiply_add(activated, d_output.transpose(), d[net.w2]);
        for (Index h = 0; h < H; ++h) d[net.b2](0, h) += sum(d_output.row(h));
        multiply(p[net.w2], d_output, activated);  // the gradient of `activated`, and below of `hidden`
        hidden.array() = activated.array() * leaky_relu_derivative(hidden.array(), leak());
        auto d_w1 = d[net.w1], d_b1 = d[net.b1];
        for (Index m = 0; m < options_.hidden; ++m) {
          d_w1(0, m) += dot(hidden.row(m), work.xi.head(keys));
          d_b1(0, m) += sum(hidden.row(m));
        }
        multiply(p[net.w1].row(0), hidden, work.d_xi.head(keys));

        // xi = sign u / w, with u = log(|c| d + 1) and w = log(|c| n + 1) + epsilon
        auto distance = work.distance.head(keys).array();
        const Real along = dot(work.d_xi.head(keys), work.xi.head(keys)) / r.normalizer;  // of -w
        distance /= rate * distance + 1;
        const Real by_distance = r.sign * dot(work.d_xi.head(keys), work.distance.head(keys)) / r.normalizer;
        d[net.c](0, 0) += sign(c) * (by_distance - along * r.reach / (rate * r.reach + 1));
        if (r.below) d[net.mu](0, 0) -= sign(mu) * along * rate / (rate * r.reach + 1) * threshold_;
      });
    }
  }

 private:
  struct Network {
    Parameter c, mu, w1, b1, w2, b2;  // (1, 1), (1, 1), (1, hidden), (1, hidden), (hidden, H), (1, H)
  };

  /// Pairs of a position with those before it: it is the query, or, in bidirectional models, the key.
  enum class Side { before, after };

  /// A position and all those before it, which are columns.
  struct Workspace {
    Workspace(Index keys, Index width, Index heads)
        : distance(keys),
          xi(keys),
          d_xi(keys),
          hidden(width, keys + kApart),
          activated(width, keys + kApart),
          output(heads, keys + kApart) {}
    Eigen::Matrix<Real, 1, Eigen::Dynamic> distance, xi, d_xi;  // |i - j|, xi, and its gradient
    RowMajor hidden, activated;                                 // before and after the activation
    RowMajor output;                                            // f(xi), or its gradient
  };
  struct Row {
    Real sign;               // of xi
    Real reach, normalizer;  // max(i, |mu| L), psi of it + 1e-6
    bool below;              // i is below the threshold
  };

  Real threshold(const Parameters& p, const Network& net) const { return std::abs(p[net.mu](0, 0)) * threshold_; }

  /// f(side, first, i) for the rows of positions `first` to i. Below the threshold xi depends on distance alone, and
  /// where that depends on i - j alone these rows are suffixes of the last one; otherwise rows are computed one by one.
  template <class F>
  void for_each_row(const Parameters& p, const Network& net, const Positions& positions, F f) const {
    Index below = 0;
    while (below < positions.size() && positions.at[below] < threshold(p, net)) ++below;
    const Index together = uniformly_spaced(positions) ? below : 0;
    for (const Side side : {Side::before, Side::after}) {
      if (side == Side::after && shape_.causal) break;
      if (together > 0) f(side, Index{0}, together - 1);
      for (Index i = together; i < positions.size(); ++i) f(side, i, i);
    }
  }

  /// Everything but the output.
  Row row(const Parameters& p, const Network& net, const Positions& positions, Side side, Index i,
          Workspace& work) const {
    const Real sign = side == Side::after && options_.sides == Sides::distinct ? Real(-1) : Real(1);
    const Index keys = i + 1;
    const Real rate = std::abs(p[net.c](0, 0)), threshold = this->threshold(p, net);
    const Real reach = std::max(positions.at[i], threshold);
    const Real normalizer = static_cast<Real>(std::log1p(static_cast<double>(rate * reach))) + kEpsilon;
    for (Index j = 0; j < keys; ++j) work.distance(j) = std::abs(positions.distance(i, j));
    work.xi.head(keys) = (rate * work.distance.head(keys).array() + 1).matrix();
    logarithm(work.xi.head(keys), work.xi.head(keys));
    work.xi.head(keys) /= sign * normalizer;
    const auto w1 = p[net.w1], b1 = p[net.b1];
    for (Index m = 0; m < options_.hidden; ++m) {
      auto hidden = work.hidden.row(m).head(keys);
      hidden.array() = work.xi.head(keys).array() * w1(0, m) + b1(0, m);
      work.activated.row(m).head(keys) = leaky_relu(hidden.array(), leak()).matrix();
    }
    return {sign, reach, normalizer, threshold > positions.at[i]};
  }
  static Real sign(Real x) { return x < 0 ? Real(-1) : Real(1); }
  Real leak() const { return options_.activation == Activation::relu ? Real(0) : Real(0.01); }

  Options options_;
  Real threshold_;                 // L
  std::vector<Network> networks_;  // one, or one for each layer
};

const RegisterEncoding<Fire> registered{{
    .name = "fire",
    .family = Family::bias_by_distance,
    .equation = "score_h(i, j) = q_i . k_j / sqrt(D) + f_h(log(c (i - j) + 1) / log(c max(i, mu L) + 1)),   f: 1 "
                "-> 32 -> H",
    .source =
        "Li et al. 2023, arXiv:2310.04418, section 3; its listing in VITA-Group/TAPE and chuanyang-Zheng/DAPE",
    .notes =
        "The paper is causal; in bidirectional models distances are fractions of the later position, and negative "
        "for keys after the query (sides=symmetric: not). L is half of the trained length here, rounded down, 512 in the paper (threshold=512), which short sequences never "
        "reach and long ones then leave the trained range with. No code of the authors' was found; FIRE-S "
        "(shared_layers=true) is from memory.",
    .touches = "B P",
    .learned = true,
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::nearly,
    .content_dependent = "no",
    .variants = {"activation=leaky_relu,hidden=5,threshold=512", "shared_layers=true", "sides=symmetric"},
}};

}  // namespace
}  // namespace posbench
