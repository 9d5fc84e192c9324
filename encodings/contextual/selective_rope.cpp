// Selective RoPE: every token gives an angle to each pair of every head, and a pair is rotated by the sum of the
// angles up to the token.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "encodings/parts/contextual_rotary.h"
#include "encodings/parts/cumsum.h"
#include "encodings/registry.h"
#include "model/numeric.h"
#include "model/product.h"
#include "model/token_convolution.h"

namespace posbench::selective_rope {
namespace {

const EncodingInfo kInfo{
    .name = "selective_rope",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = R(phi_h(i)) q_i . R(phi_h(j)) k_j / sqrt(D)\n"
        "phi(t)[n]     = theta^(-2 n / D) (a_0 + ... + a_t)[n]\n"
        "a_t           = sigmoid(W_g u_t + b_g) * (conv(W_2 W_1 u)_t + exp(b))\n"
        "u_t           = x_t, with each head's slice divided by its norm\n"
        "conv(y)_t     = c_0 y_(t-3) + c_1 y_(t-2) + c_2 y_(t-1) + c_3 y_t by channel, or y_t - y_(t-1)\n"
        "values=rotated: output_h(i) = sum over j of attention_h(i, j) R(phi_h(i))^T R(phi_h(j)) v_j",
    .source = "Movahedi et al. 2025, arXiv:2511.17388; timurcarstensen/selective-rope",
    .notes =
        "The gate (one for each head) and the bias exp(b) are options, off as in the released defaults, and "
        "theta is fixed. The released configurations have rank 32, the released class 16. The released code "
        "may normalize queries and keys after the rotation, which is left out. Each head's slice of the token "
        "is divided by its own norm, not the whole vector by the vector's. Weights start at N(0, 1 / inputs), "
        "the convolution uniform within 1/2.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::accumulated,
    .content_dependent = "token",
    .variants = {"convolution=false", "convolution=false,gate=true,bias=true",
                 "gate=true,bias=true,rank=3,theta=10", "rank=3,theta=10,values=rotated"},
};

constexpr Index kTaps = 4;

class SelectiveRope final : public WithValues<ContextualRotary> {
 public:
  struct Options {
    int rank = 32;
    double theta = 500000;
    bool convolution = true, gate = false, bias = false;
    RotaryValues values = RotaryValues::plain;
    bool replaces_mix() const { return values == RotaryValues::rotated; }
    void describe(OptionTable& o) {
      o.integer("rank", rank, 1, 1 << 16, "width between the two projections");
      o.number("theta", theta, 1.001, 1e9, "base of the factor theta^(-2n / D) of pair n");
      o.flag("convolution", convolution,
             "causal convolution of width 4; otherwise the difference from the token before");
      o.flag("gate", gate, "factor of each head's angles, a sigmoid of the token");
      o.flag("bias", bias, "positive bias of every token's angles");
      describe_values(o, values);
    }
  };

  SelectiveRope(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : WithValues(options.values, config, Pairing::half_split, "selective_rope"), options_(options) {
    const Index C = config.width, channels = config.heads * pairs();
    temperature_.resize(1, channels);
    const std::vector<double> frequencies = rope_frequencies(config.head_width(), options.theta);
    for (Index n = 0; n < channels; ++n) temperature_(0, n) = static_cast<Real>(frequencies[n % pairs()]);
    for (int layer = 0; layer < config.layers; ++layer) {
      const auto name = [&](const char* part) { return fmt::format("selective_rope.{}.{}", part, layer); };
      Layer w;
      w.down = layout.normal(name("down"), C, options.rank, 1 / std::sqrt(C));
      w.up = layout.normal(name("up"), options.rank, channels, 1 / std::sqrt(options.rank));
      if (options.convolution) w.taps = layout.uniform(name("taps"), kTaps, channels, -0.5, 0.5);
      if (options.bias) w.bias = layout.constant(name("bias"), 1, channels, 0);
      if (options.gate) {
        w.gate_weight = layout.normal(name("gate.weight"), C, config.heads, 1 / std::sqrt(C));
        w.gate_bias = layout.constant(name("gate.bias"), 1, config.heads, 0);
      }
      layers_.push_back(w);
    }
  }

  const Matrix& angles(const AttentionInput& in) const override {
    const Steps s = steps(in);
    Matrix& angles = in.scratch(in.length(), temperature_.cols());
    angles = s.turns;
    if (options_.gate) multiply_by_gates(s.gates, angles);
    cumsum_over_rows(angles);
    angles.array().rowwise() *= temperature_.row(0).array();
    return angles;
  }
  void angles_backward(const AttentionInput& in, Matrix& d_angles, AttentionGradient& d) const override {
    const Steps s = steps(in);
    Matrix &d_unit = in.scratch(in.length(), config_.width), &d_turns = d_angles;
    d_unit.setZero();
    d_turns.array().rowwise() *= temperature_.row(0).array();
    cumsum_over_rows_backward(d_turns);
    if (options_.gate) gates_backward(in, s, d_turns, d_unit, d.parameters);
    turns_backward(in, s, d_turns, d_unit, d.parameters);
    normalize_slices_backward(in.x, config_.head_width(), s.unit, d_unit, d.x);
  }

 private:
  struct Layer {
    Parameter down, up, taps, bias, gate_weight, gate_bias;
  };
  struct Steps {
    Matrix &unit, &low, &raw;  // (T, C), (T, rank), (T, H D / 2): u, W_1 u, W_2 W_1 u
    Matrix& turns;             // (T, H D / 2): convolved, plus the bias
    Matrix& gates;             // (T, H), with the option
  };

  Steps steps(const AttentionInput& in) const {
    const Index T = in.length(), channels = temperature_.cols();
    const Layer& w = layers_[in.layer];
    const Steps s{in.scratch(T, config_.width), in.scratch(T, options_.rank), in.scratch(T, channels),
                  in.scratch(T, channels), in.scratch(T, config_.heads)};
    normalize_slices(in.x, config_.head_width(), s.unit);
    multiply(s.unit, in.parameters[w.down], s.low);
    multiply(s.low, in.parameters[w.up], s.raw);
    if (options_.convolution) {
      convolve_tokens(s.raw, in.parameters[w.taps], s.turns);
    } else {
      s.turns = s.raw;
      s.turns.bottomRows(T - 1) -= s.raw.topRows(T - 1);
    }
    if (options_.bias) s.turns.rowwise() += bias_factors(in).row(0);
    if (options_.gate) {
      multiply(s.unit, in.parameters[w.gate_weight], s.gates);
      s.gates.rowwise() += in.parameters[w.gate_bias].row(0);
      sigmoid(s.gates, s.gates);
    }
    return s;
  }
  /// The backward of the turns. d_turns is the gradient before the gates.
  void turns_backward(const AttentionInput& in, const Steps& s, const Matrix& d_turns, Matrix& d_unit,
                      Gradients& d) const {
    const Index T = in.length();
    const Layer& w = layers_[in.layer];
    Matrix &d_raw = in.scratch(T, d_turns.cols()), &d_low = in.scratch(T, options_.rank);
    if (options_.bias) {
      EigenMatrix total = EigenMatrix::Zero(1, d_turns.cols());
      add_column_sums(d_turns, total);
      d[w.bias].array() += total.array() * bias_factors(in).array();
    }
    if (options_.convolution) {
      d_raw.setZero();
      convolve_tokens_backward(s.raw, in.parameters[w.taps], d_turns, d_raw, d[w.taps]);
    } else {
      d_raw = d_turns;
      d_raw.topRows(T - 1) -= d_turns.bottomRows(T - 1);
    }
    multiply(d_raw, in.parameters[w.up].transpose(), d_low);
    multiply_add(s.low.transpose(), d_raw, d[w.up]);
    multiply_add(d_low, in.parameters[w.down].transpose(), d_unit);
    multiply_add(s.unit.transpose(), d_low, d[w.down]);
  }

  /// Multiplies the columns of each head by its gates.
  void multiply_by_gates(const Matrix& gates, Matrix& turns) const {
    for (Index h = 0; h < gates.cols(); ++h)
      of_head(turns, static_cast<size_t>(h)).array().colwise() *= gates.col(h).array();
  }
  /// Adds the gradients of the gates, and multiplies d_turns by the gates.
  void gates_backward(const AttentionInput& in, const Steps& s, Matrix& d_turns, Matrix& d_unit,
                      Gradients& d) const {
    const Layer& w = layers_[in.layer];
    Matrix& d_gates = in.scratch(in.length(), config_.heads);
    for (size_t h = 0; h < in.q.size(); ++h) {
      for (Index t = 0; t < in.length(); ++t)
        d_gates(t, static_cast<Index>(h)) = dot(of_head(d_turns, h).row(t), of_head(s.turns, h).row(t));
    }
    multiply_by_gates(s.gates, d_turns);
    d_gates.array() *= s.gates.array() * (1 - s.gates.array());
    multiply_add(d_gates, in.parameters[w.gate_weight].transpose(), d_unit);
    multiply_add(s.unit.transpose(), d_gates, d[w.gate_weight]);
    add_column_sums(d_gates, d[w.gate_bias]);
  }

  /// exp(b), (1, H D / 2)
  EigenMatrix bias_factors(const AttentionInput& in) const {
    EigenMatrix factors(1, temperature_.cols());
    exponential(in.parameters[layers_[in.layer].bias], factors);
    return factors;
  }

  Options options_;
  EigenMatrix temperature_;  // (1, H D / 2): theta^(-2 n / D)
  std::vector<Layer> layers_;
};

const RegisterEncoding<SelectiveRope> registered{kInfo};

}  // namespace
}  // namespace posbench::selective_rope
