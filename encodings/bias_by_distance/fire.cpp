// FIRE: a small network of the distance, as a fraction of the query's position, gives the bias.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "encodings/parts/additive_bias.h"
#include "encodings/parts/distances.h"
#include "encodings/parts/fraction_network.h"
#include "encodings/registry.h"

namespace posbench::fire {
namespace {

const EncodingInfo kInfo{
    .name = "fire",
    .family = Family::bias_by_distance,
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) + f_h(xi),   f(xi) = W2 a(xi w1 + b1) + b2,   1 -> hidden -> H\n"
        "xi            = psi(i - j) / (psi(max(i, |mu| L)) + 1e-6),   psi(n) = log(|c| n + 1)\n"
        "bidirectional: xi = +- psi(|i - j|) / (psi(max(i, j, |mu| L)) + 1e-6), - for keys after the query",
    .source =
        "Li et al. 2023, arXiv:2310.04418, section 3; its listing in VITA-Group/TAPE and chuanyang-Zheng/DAPE",
    .notes =
        "i counts from 0. c (0.1 at the start), mu (1 at the start) and the network are learned, for each "
        "layer. W and b start uniform over +-1 / sqrt(inputs). Below |mu| L the bias is a function of distance "
        "alone. L is 512 in the paper (threshold=512). Short sequences never reach it, so longer ones leave "
        "the trained range. Here L is half of the trained length, rounded down; DAPE's training "
        "code halves 128. The paper is causal. In bidirectional models a pair's bias does not depend on the "
        "length and equals the causal one for keys before the query; with sides=symmetric, left and right are "
        "alike. No code of the authors was found. FIRE-S (shared_layers=true) is from memory.",
    .learned = true,
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::nearly,
    .content_dependent = "no",
    .kernel = Kernel::score_modifier,
    .variants = {"activation=leaky_relu,hidden=5,threshold=512", "shared_layers=true", "sides=symmetric"},
};

enum class Activation { relu, leaky_relu };

class Fire final : public AdditiveBias {
 public:
  enum class Sides { distinct, symmetric };
  struct Options {
    int hidden = 32;
    double threshold = 0;
    Activation activation = Activation::relu;
    bool shared_layers = false;
    Sides sides = Sides::distinct;
    void describe(OptionTable& o) {
      o.integer("hidden", hidden, 1, 4096, "width of the network");
      o.number("threshold", threshold, 0, 1e9, "L, 512 in the paper; 0: half of the trained length");
      o.choice("activation", activation, {"relu", "leaky_relu"},
               "activation of the network; leaky_relu as in DAPE's code");
      o.flag("shared_layers", shared_layers, "one network for all layers");
      o.choice("sides", sides, {"distinct", "symmetric"},
               "difference between left and right in bidirectional models");
    }
  };

  Fire(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : AdditiveBias(config), options_(options) {
    const FractionNetwork::Settings settings{
        .hidden = options.hidden,
        .length =
            static_cast<Real>(options.threshold > 0 ? options.threshold : std::max(1, config.trained_length / 2)),
        .leak = options.activation == Activation::relu ? Real(0) : Real(0.01)};
    for (int layer = 0; layer < (options.shared_layers ? 1 : config.layers); ++layer)
      networks_.emplace_back(options.shared_layers ? "" : fmt::format(".{}", layer), settings, config, layout);
  }

  bool per_layer() const override { return !options_.shared_layers; }
  bool learned() const override { return true; }

  void bias(const Parameters& p, const Positions& positions, Matrices& bias) const override {
    const Index H = config_.heads;
    FractionNetwork::Workspace work(positions.size(), options_.hidden, H);
    for (size_t n = 0; n < networks_.size(); ++n) {
      for_each_rows(positions, networks_[n].threshold(p), [&](const Rows& rows) {
        networks_[n].forward(p, network_row(positions, rows, work), work);
        for (Index h = 0; h < H; ++h) write_rows(work.output.row(h).head(rows.last + 1), rows, bias[n * H + h]);
      });
    }
  }
  void bias_backward(const Parameters& p, const Positions& positions, const Matrices& d_bias,
                     Gradients& d) const override {
    const Index H = config_.heads;
    FractionNetwork::Workspace work(positions.size(), options_.hidden, H);
    for (size_t n = 0; n < networks_.size(); ++n) {
      for_each_rows(positions, networks_[n].threshold(p), [&](const Rows& rows) {
        for (Index h = 0; h < H; ++h) add_rows(d_bias[n * H + h], rows, work.output.row(h).head(rows.last + 1));
        networks_[n].backward(p, network_row(positions, rows, work), work, d);
      });
    }
  }

 private:
  /// Pairs of a position with the positions before it: it is the query, or, in bidirectional models, the key.
  enum class Side { query, key };

  /// The positions first .. last, each with the positions before it. Their distances are suffixes of those of
  /// the last.
  struct Rows {
    Side side;
    Index first, last;
  };

  /// Calls f(rows). Below the threshold xi depends on distance alone. If the distance depends on i - j alone,
  /// all rows below it are computed together, otherwise one by one.
  template <class F>
  void for_each_rows(const Positions& positions, Real threshold, F f) const {
    Index below = 0;
    while (below < positions.size() && positions.at[below] < threshold) ++below;
    const Index together = uniformly_spaced(positions) ? below : 0;
    for (const Side side : {Side::query, Side::key}) {
      if (side == Side::key && config_.causal) break;
      if (together > 0) f(Rows{side, 0, together - 1});
      for (Index i = together; i < positions.size(); ++i) f(Rows{side, i, i});
    }
  }

  /// Returns the row of the last position, and sets its distances.
  FractionNetwork::Row network_row(const Positions& positions, const Rows& rows,
                                   FractionNetwork::Workspace& work) const {
    for (Index j = 0; j <= rows.last; ++j) work.distance(j) = std::abs(positions.distance(rows.last, j));
    const bool negative = rows.side == Side::key && options_.sides == Sides::distinct;
    return {.position = positions.at[rows.last], .sign = Real(negative ? -1 : 1), .keys = rows.last + 1};
  }

  template <class Row>
  static void write_rows(const Row& output, const Rows& rows, Matrix& bias) {
    for (Index m = rows.first; m <= rows.last; ++m) {
      if (rows.side == Side::query) {
        bias.row(m).head(m + 1) = output.tail(m + 1);
      } else {
        bias.col(m).head(m) = output.tail(m + 1).head(m).transpose();
      }
    }
  }
  /// Overwrites d_output.
  template <class Row>
  static void add_rows(const Matrix& d_bias, const Rows& rows, Row d_output) {
    if (rows.side == Side::query) {
      d_output = d_bias.row(rows.last).head(rows.last + 1);
      for (Index m = rows.first; m < rows.last; ++m) d_output.tail(m + 1) += d_bias.row(m).head(m + 1);
    } else {
      d_output.setZero();
      for (Index m = rows.first; m <= rows.last; ++m)
        d_output.tail(m + 1).head(m) += d_bias.col(m).head(m).transpose();
    }
  }

  Options options_;
  std::vector<FractionNetwork> networks_;  // one, or one for each layer
};

const RegisterEncoding<Fire> registered{kInfo};

}  // namespace
}  // namespace posbench::fire
