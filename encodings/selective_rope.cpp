// Selective RoPE: every token gives an angle to each pair of every head, and a pair is rotated by the sum of the
// angles so far.
//
//   score_h(i, j)    = R(phi_h(i)) q_i . R(phi_h(j)) k_j / sqrt(D)
//   pair n of phi(t) = theta^(-2 n / D) (a_0 + ... + a_t)[n]
//   a_t              = sigmoid(W_g u_t + b_g) * (conv(W_2 W_1 u)_t + exp(b))
//   u_t              = x_t, each head's slice over its norm
//   conv(y)_t        = c_0 y_{t-3} + c_1 y_{t-2} + c_2 y_{t-1} + c_3 y_t, channel by channel;
//                      y_t - y_{t-1} without convolution
//
// W_1 (C, rank), W_2 (rank, H D / 2). The gate, one for each head, and the bias exp(b) are options, off as in the
// released default, and theta is fixed. Movahedi et al. 2025, arXiv:2511.17388; timurcarstensen/selective-rope,
// whose configurations have rank 32 and its class 16. There queries and keys may be normalized after the rotation;
// here never. Weights start at N(0, 1 / inputs), the convolution uniform within 1/2.
#include "encodings/parts/contextual_rotary.h"
#include "encodings/registry.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench {
namespace {

constexpr Index kTaps = 4;
constexpr Real kSmall = 1e-6;  // added to the squared norm of a head's slice

class SelectiveRope final : public ContextualRotary {
 public:
  struct Options {
    int rank = 32;
    double theta = 500000;
    bool convolution = true, gate = false, bias = false;
    void describe(OptionTable& o) {
      o.integer("rank", rank, 1, 1 << 16, "width between the two projections");
      o.number("theta", theta, 1.001, 1e9, "angles of pair n are multiplied by theta^(-2n / D)");
      o.flag("convolution", convolution,
             "a causal convolution of width 4; else the difference to the token before");
      o.flag("gate", gate, "multiply each head's angles by a sigmoid of the token");
      o.flag("bias", bias, "add a positive bias to every token's angles");
    }
  };

  SelectiveRope(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : ContextualRotary(shape, Pairing::half_split, "selective_rope"), options_(options) {
    const Index C = shape.width, channels = shape.heads * pairs();
    temperature_.resize(1, channels);
    const std::vector<double> frequencies = rope_frequencies(shape.head_width(), options.theta);
    for (Index n = 0; n < channels; ++n) temperature_(0, n) = static_cast<Real>(frequencies[n % pairs()]);
    for (int layer = 0; layer < shape.layers; ++layer) {
      const auto name = [&](const char* part) { return fmt::format("selective_rope.{}.{}", part, layer); };
      Layer w;
      w.down = layout.normal(name("down"), C, options.rank, 1 / std::sqrt(C));
      w.up = layout.normal(name("up"), options.rank, channels, 1 / std::sqrt(options.rank));
      if (options.convolution) w.taps = layout.uniform(name("taps"), kTaps, channels, -0.5, 0.5);
      if (options.bias) w.bias = layout.constant(name("bias"), 1, channels, 0);
      if (options.gate) {
        w.gate_weight = layout.normal(name("gate.weight"), C, shape.heads, 1 / std::sqrt(C));
        w.gate_bias = layout.constant(name("gate.bias"), 1, shape.heads, 0);
      }
      layers_.push_back(w);
    }
  }

  const Matrix& angles(const AttentionInput& in) const override {
    const Steps s = steps(in);
    Matrix& angles = in.scratch(in.length(), temperature_.cols());
    angles = s.turns;
    if (options_.gate) {
      for (size_t h = 0; h < in.q.size(); ++h) gated(angles, s.gates, h);
    }
    cumsum_over_rows(angles);
    angles.array().rowwise() *= temperature_.row(0).array();
    return angles;
  }

  void angles_backward(const AttentionInput& in, Matrix& d_angles, AttentionGradient& d) const override {
    const Index T = in.length();
    const Layer& w = layers_[in.layer];
    const Steps s = steps(in);
    Matrix &d_unit = in.scratch(T, shape_.width), &d_low = in.scratch(T, options_.rank);
    Matrix& d_raw = in.scratch(T, temperature_.cols());
    d_unit.setZero();

    Matrix& d_turns = d_angles;
    d_turns.array().rowwise() *= temperature_.row(0).array();
    cumsum_over_rows_backward(d_turns);
    if (options_.gate) {
      Matrix& d_gates = in.scratch(T, shape_.heads);
      for (size_t h = 0; h < in.q.size(); ++h) {
        for (Index t = 0; t < T; ++t)
          d_gates(t, static_cast<Index>(h)) = dot(of_head(d_turns, h).row(t), of_head(s.turns, h).row(t));
        gated(d_turns, s.gates, h);
      }
      d_gates.array() *= s.gates.array() * (1 - s.gates.array());
      multiply_add(d_gates, in.parameters[w.gate_weight].transpose(), d_unit);
      multiply_add(s.unit.transpose(), d_gates, d.parameters[w.gate_weight]);
      add_column_sums(d_gates, d.parameters[w.gate_bias]);
    }
    if (options_.bias) {
      RowMajor total = RowMajor::Zero(1, d_turns.cols()), factor(1, d_turns.cols());
      add_column_sums(d_turns, total);
      exponential(in.parameters[w.bias], factor);
      d.parameters[w.bias].array() += total.array() * factor.array();
    }

    if (options_.convolution) {
      const auto taps = in.parameters[w.taps];
      auto d_taps = d.parameters[w.taps];
      d_raw.setZero();
      for (Index tap = 0; tap < kTaps; ++tap) {
        const Index rows = std::max<Index>(0, T - lag(tap));
        const RowMajor products = d_turns.bottomRows(rows).cwiseProduct(s.raw.topRows(rows));
        add_column_sums(products, d_taps.row(tap));
        d_raw.topRows(rows).array() += d_turns.bottomRows(rows).array().rowwise() * taps.row(tap).array();
      }
    } else {
      d_raw = d_turns;
      d_raw.topRows(T - 1) -= d_turns.bottomRows(T - 1);
    }
    multiply(d_raw, in.parameters[w.up].transpose(), d_low);
    multiply_add(s.low.transpose(), d_raw, d.parameters[w.up]);
    multiply_add(d_low, in.parameters[w.down].transpose(), d_unit);
    multiply_add(s.unit.transpose(), d_low, d.parameters[w.down]);

    const Index D = shape_.head_width();
    for (Index t = 0; t < T; ++t) {  // d_x = (d_u - u (u . d_u)) / norm
      for (Index h = 0; h < slices(); ++h) {
        const auto u = s.unit.row(t).segment(h * D, D), d_u = d_unit.row(t).segment(h * D, D);
        const Real along = dot(u, d_u);
        d.x.row(t).segment(h * D, D) += (d_u - along * u) * inverse_norm(in, t, h);
      }
    }
  }

 private:
  struct Layer {
    Parameter down, up, taps, bias, gate_weight, gate_bias;
  };
  struct Steps {
    Matrix &unit, &low, &raw,
        &turns;     // (T, C), (T, rank), (T, H D / 2): u, W_1 u, W_2 W_1 u, convolved with its bias
    Matrix& gates;  // (T, H), with the option
  };

  /// Of a token: one for each head of the model, also for those that are another encoding's.
  Index slices() const { return shape_.width / shape_.head_width(); }
  static Index lag(Index tap) { return kTaps - 1 - tap; }

  Real inverse_norm(const AttentionInput& in, Index t, Index h) const {
    const Index D = shape_.head_width();
    const auto head = in.x.row(t).segment(h * D, D);
    return 1 / std::sqrt(dot(head, head) + kSmall);
  }

  /// Multiplies the columns of head h by its gates.
  void gated(Matrix& turns, const Matrix& gates, size_t h) const {
    of_head(turns, h).array().colwise() *= gates.col(static_cast<Index>(h)).array();
  }

  Steps steps(const AttentionInput& in) const {
    const Index T = in.length(), D = shape_.head_width(), channels = temperature_.cols();
    const Layer& w = layers_[in.layer];
    const Steps s{in.scratch(T, shape_.width), in.scratch(T, options_.rank), in.scratch(T, channels),
                  in.scratch(T, channels), in.scratch(T, shape_.heads)};
    for (Index t = 0; t < T; ++t) {
      for (Index h = 0; h < slices(); ++h) {
        s.unit.row(t).segment(h * D, D) = in.x.row(t).segment(h * D, D) * inverse_norm(in, t, h);
      }
    }
    multiply(s.unit, in.parameters[w.down], s.low);
    multiply(s.low, in.parameters[w.up], s.raw);
    if (options_.convolution) {
      const auto taps = in.parameters[w.taps];
      s.turns.setZero();
      for (Index tap = 0; tap < kTaps; ++tap) {
        const Index rows = std::max<Index>(0, T - lag(tap));
        s.turns.bottomRows(rows).array() += s.raw.topRows(rows).array().rowwise() * taps.row(tap).array();
      }
    } else {
      s.turns = s.raw;
      s.turns.bottomRows(T - 1) -= s.raw.topRows(T - 1);
    }
    if (options_.bias) {
      RowMajor factor(1, channels);
      exponential(in.parameters[w.bias], factor);
      s.turns.rowwise() += factor.row(0);
    }
    if (options_.gate) {
      multiply(s.unit, in.parameters[w.gate_weight], s.gates);
      s.gates.rowwise() += in.parameters[w.gate_bias].row(0);
      sigmoid(s.gates, s.gates);
    }
    return s;
  }

  Options options_;
  RowMajor temperature_;  // (1, H D / 2): theta^(-2 n / D)
  std::vector<Layer> layers_;
};

const RegisterEncoding<SelectiveRope> registered{{
    .name = "selective_rope",
    .family = Family::contextual,
    .equation = "score(i, j) = R(phi(i)) q_i . R(phi(j)) k_j / sqrt(D),   phi(t)[n] = theta^(-2n / D) times the "
                "sum over s <= t "
                "of conv(W_2 W_1 x / |x|)_s",
    .source = "Movahedi et al. 2025, arXiv:2511.17388; timurcarstensen/selective-rope",
    .notes = "Gate and bias are options, off as in the code's defaults; its normalization of queries and keys "
             "after the "
             "rotation is left out. Each head's slice of the token is divided by its own norm, not the whole vector by "
             "the vector's.",
    .causal_only = true,
    .touches = "R P",
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::accumulated,
    .content_dependent = "token",
    .variants = {"convolution=false", "convolution=false,gate=true,bias=true",
                 "gate=true,bias=true,rank=3,theta=10"},
}};

}  // namespace
}  // namespace posbench
