// The gated delta rule (Yang et al. 2024, arXiv:2412.06464) in place of attention. For each head, with the state S
// (D, D), S_0 = 0:
//
//   (q  k  v) = silu(convolution(x W)),   q and k divided by their Euclidean norm
//   a_t = exp(-exp(A) softplus(x_t W_a + s)),   b_t = sigmoid(x_t W_b)
//   S_t = a_t S_{t-1} (I - b_t k_t k_t^T) + b_t v_t k_t^T,   o_t = S_t q_t / sqrt(D)
//   y_t = (RMSNorm(o_t) * silu(x_t W_g)) W_o
//
// The convolution is causal, over the token and the three before it, separately for each channel. A and s are one
// number for each head. These are the equations of fla-org/flash-linear-attention (fla/layers/gated_deltanet.py,
// fla/ops/gated_delta_rule/naive.py), with its initial values of A and s and without biases in the projections.
//
// Options of published layers:
//
//   strength=2       b_t = 2 sigmoid(x_t W_b): eigenvalues from -1 to 1, with which a layer tracks parity
//                    (Grazzi et al. 2024, arXiv:2411.12537)
//   decay=channel    a_t = exp(-exp(A) softplus(x_t W_down W_up + s)), one number for each component of a key, in
//                    place of a_t before S: S_{t-1} diag(a_t) (Kimi Delta Attention, arXiv:2510.26692;
//                    fla/ops/kda/naive.py)
//   rotation=true    q_t and k_t are rotated by the sum of pi softplus(x_r W_a + s) tanh(x_r W_theta) over r <= t,
//                    an angle for each head and pair of components (Mamba-3, arXiv:2603.15569)
//
// Departures: keys and values have the width D of a head; the paper's values are twice as wide as its keys. KDA's
// output gate is a sigmoid with factors of low rank. Mamba-3 rotates half of the pairs, has no delta rule, and
// adds the input of the token before.
#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "model/block.h"
#include "model/blocks/accumulated_rotation.h"
#include "model/blocks/delta_states.h"

namespace posbench::gated_delta {
namespace {

constexpr Index kTaps = 4;                          // of the convolution
constexpr Real kUnitEpsilon = Real(1e-6);           // added to the squared norm of queries and keys
constexpr double kLargestSpeed = 16;                // exp(A) starts uniformly between 0 and this
constexpr double kStepLow = 1e-3, kStepHigh = 0.1;  // softplus(s) starts between these, uniformly in its logarithm

double draw_decay_speed(Rng& rng, Index, Index) { return std::log(kLargestSpeed * (1 - uniform_real(rng))); }

double draw_step_bias(Rng& rng, Index, Index) {
  const double step = kStepLow * std::pow(kStepHigh / kStepLow, uniform_real(rng));
  return step + std::log(-std::expm1(-step));  // softplus of this is `step`
}

enum class DecayOf { head, channel };

struct GatedDeltaOptions {
  int strength = 1;
  DecayOf decay = DecayOf::head;
  bool rotation = false;

  void describe(OptionTable& o) {
    o.integer("strength", strength, 1, 2,
              "greatest strength of a step; 2: negative eigenvalues, which track parity");
    o.choice("decay", decay, {"head", "channel"}, "decay of a head, or of each component of its keys as in Kimi");
    o.flag("rotation", rotation, "rotation of queries and keys by angles that tokens accumulate, as in Mamba-3");
  }
};

class GatedDeltaLayer final : public RecurrentLayer {
 public:
  using Options = GatedDeltaOptions;

  GatedDeltaLayer(const Options& options, const ModelConfig& config, const std::string& name,
                  ParameterLayout& layout)
      : options_(options),
        C_(config.width),
        H_(config.heads),
        D_(config.head_width()),
        qkv_(add_dense(layout, name + ".qkv", C_, 3 * C_, /*biases=*/false)),
        convolution_(layout.uniform(name + ".convolution", kTaps, 3 * C_, -0.5, 0.5)),
        rates_(by_channel() ? DenseParameters{}
                            : add_dense(layout, name + ".rates", C_, 2 * H_, /*biases=*/false)),
        decay_speed_(layout.add(name + ".decay_speed", 1, H_, draw_decay_speed)),
        step_bias_(layout.add(name + ".step_bias", 1, num_decays(), draw_step_bias)),
        norm_(add_norm(layout, name + ".norm", D_, NormKind::rms_norm)),
        gate_(add_dense(layout, name + ".gate", C_, C_, /*biases=*/false)),
        out_(add_dense(layout, name + ".out", C_, C_, /*biases=*/false)) {
    if (by_channel()) {
      strength_ = add_dense(layout, name + ".strength", C_, H_, /*biases=*/false);
      decay_down_ = add_dense(layout, name + ".decay_down", C_, D_, /*biases=*/false);
      decay_up_ = add_dense(layout, name + ".decay_up", D_, C_, /*biases=*/false);
    }
    if (!options.rotation) return;
    if (by_channel()) {
      throw InputError(
          "block 'gated_delta': rotation=true needs one decay for each head, and decay is channel; leave out one");
    }
    if (D_ < 2)
      throw InputError(
          "block 'gated_delta': rotation=true needs heads of 2 or more components, expected fewer heads");
    angle_ = add_dense(layout, name + ".angle", C_, num_pairs(), /*biases=*/false);
  }

  void pack(const Parameters& p, bool backward, RecurrentWeights& weights) const override {
    weights.resize(kNumWeights);
    const auto fill = [&](size_t n, const DenseParameters& dense) {
      if (dense.weight.size() > 0) weights[n].fill(p[dense.weight], backward);
    };
    fill(kQkv, qkv_);
    fill(kRates, rates_);
    fill(kStrength, strength_);
    fill(kDecayDown, decay_down_);
    fill(kDecayUp, decay_up_);
    fill(kAngle, angle_);
    fill(kGate, gate_);
    fill(kOut, out_);
  }

  void forward(const RecurrentContext& c, Matrix& result) const override {
    const Values v = values(c.values, c.input.rows());
    project(c, v);
    compute_rates(c, v);
    if (options_.rotation) rotate(c, v);
    for (Index h = 0; h < H_; ++h) compute_states(states(v), h, c.scratch);
    write_result(c, v, result);
    c.scratch.release();
  }

  void backward(const RecurrentContext& c, const Matrix& d_result, Matrix& d_input, Gradients& d) const override {
    const Index T = c.input.rows();
    const Values v = values(c.values, T);
    const Gradient d_v{c.scratch(T, C_), c.scratch(T, 3 * C_), c.scratch(T, num_decays()), c.scratch(T, H_),
                       c.scratch(T, H_)};
    write_result_backward(c, v, d_result, d_v, d_input, d);
    for (Index h = 0; h < H_; ++h)
      compute_states_backward(states(v), h, {d_v.output, d_v.qkv, d_v.decay, d_v.strength}, c.scratch);
    if (options_.rotation) rotate_backward(c, v, d_v, d_input, d);
    compute_rates_backward(c, v, d_v, d_input, d);
    project_backward(c, v, d_v, d_input, d);
    c.scratch.release();
  }

  double multiply_adds(Index length) const override {
    // The state of a head has D^2 entries: they are read twice, decayed, and added to.
    const auto C = static_cast<double>(C_), H = static_cast<double>(H_), D = static_cast<double>(D_);
    const double rates = by_channel() ? C * H + 2 * C * D : 2 * C * H;
    const double rotation = options_.rotation ? static_cast<double>(num_pairs()) * (C + 8 * H) : 0;
    return static_cast<double>(length) * (5 * C * C + rates + 3 * C * kTaps + 4 * C * D + rotation);
  }

 private:
  enum : size_t { kQkv, kRates, kStrength, kDecayDown, kDecayUp, kAngle, kGate, kOut, kNumWeights };
  struct Values {
    Matrix &projected, &slope;                   // (T, 3 C): x W, and the derivative of silu
    Matrix& qkv;                                 // (T, 3 C): the heads of q, of k and of v
    Matrix& unit;                                // (T, 2 H): 1 / norm of q and of k
    Matrix &step, &step_slope;                   // (T, H or C): softplus, and its derivative
    Matrix &decay, &strength, &speed;            // (T, H or C), (T, H): a, b; (1, H or C): exp(A)
    Matrix& low;                                 // (T, D): x W_down
    Matrix &turn, &cosine, &sine, &rotated;      // (T, N), (T, H N) twice; (T, 3 C): qkv after the rotation
    Matrix& states;                              // (T H D, D): the transpose of S after each token, of each head
    Matrix &retrieved, &output;                  // (T, C): what k_t reads before its token, and o
    Matrix &normalized, &rstd;                   // (T, C), (T H, 1): of RMSNorm
    Matrix &normed, &gate, &gate_slope, &gated;  // (T, C)
  };
  static constexpr size_t kNumValues = 23;
  /// The gradients of these values; that of `step` through the rotation.
  struct Gradient {
    Matrix &output, &qkv, &decay, &strength, &step;
  };

  Values values(Matrices& m, Index T) const {
    m.resize(kNumValues);
    size_t n = 0;
    const auto next = [&](Index rows, Index cols) -> Matrix& {
      m[n].resize(rows, cols);
      return m[n++];
    };
    const Index R = num_decays(), low = by_channel() ? D_ : 0, N = options_.rotation ? num_pairs() : 0;
    return {.projected = next(T, 3 * C_),
            .slope = next(T, 3 * C_),
            .qkv = next(T, 3 * C_),
            .unit = next(T, 2 * H_),
            .step = next(T, R),
            .step_slope = next(T, R),
            .decay = next(T, R),
            .strength = next(T, H_),
            .speed = next(1, R),
            .low = next(T, low),
            .turn = next(T, N),
            .cosine = next(T, H_ * N),
            .sine = next(T, H_ * N),
            .rotated = next(options_.rotation ? T : 0, 3 * C_),
            .states = next(T * H_ * D_, D_),
            .retrieved = next(T, C_),
            .output = next(T, C_),
            .normalized = next(T, C_),
            .rstd = next(T * H_, 1),
            .normed = next(T, C_),
            .gate = next(T, C_),
            .gate_slope = next(T, C_),
            .gated = next(T, C_)};
  }

  DeltaStates states(const Values& v) const {
    return {H_,       D_,          by_channel(), options_.rotation ? v.rotated : v.qkv, v.decay, v.strength,
            v.states, v.retrieved, v.output};
  }

  void project(const RecurrentContext& c, const Values& v) const {
    const auto taps = c.parameters[convolution_];
    multiply(c.input, c.weights[kQkv], v.projected);
    for (Index t = 0; t < v.qkv.rows(); ++t) {
      v.slope.row(t) = taps.row(0).cwiseProduct(v.projected.row(t));
      for (Index j = 1; j < std::min(kTaps, t + 1); ++j)
        v.slope.row(t) += taps.row(j).cwiseProduct(v.projected.row(t - j));
    }
    silu(v.slope, v.qkv);
    MatrixView heads = by_head(v.qkv, D_);
    for (Index n = 0; n < v.unit.size(); ++n) {
      auto head = heads.row(n / (2 * H_) * 3 * H_ + n % (2 * H_));
      v.unit.data()[n] = 1 / std::sqrt(dot(head, head) + kUnitEpsilon);
      head *= v.unit.data()[n];
    }
  }

  void project_backward(const RecurrentContext& c, const Values& v, const Gradient& d_v, Matrix& d_input,
                        Gradients& d) const {
    const MatrixView heads = by_head(v.qkv, D_);
    MatrixView d_heads = by_head(d_v.qkv, D_);
    for (Index n = 0; n < v.unit.size(); ++n) {
      const Index row = n / (2 * H_) * 3 * H_ + n % (2 * H_);
      const Real along = dot(heads.row(row), d_heads.row(row));
      d_heads.row(row) = v.unit.data()[n] * (d_heads.row(row) - along * heads.row(row));
    }
    d_v.qkv.array() *= v.slope.array();

    const auto taps = c.parameters[convolution_];
    MatrixView d_taps = d[convolution_];
    Matrix& d_projected = c.scratch(v.qkv.rows(), 3 * C_);
    d_projected.setZero();
    for (Index t = 0; t < v.qkv.rows(); ++t) {
      for (Index j = 0; j < std::min(kTaps, t + 1); ++j) {
        d_taps.row(j) += d_v.qkv.row(t).cwiseProduct(v.projected.row(t - j));
        d_projected.row(t - j) += d_v.qkv.row(t).cwiseProduct(taps.row(j));
      }
    }
    linear_backward(c.input, c.weights[kQkv], d_projected, d_input, d[qkv_.weight], d[qkv_.bias]);
  }

  /// Computes a and b, and the steps on which a depends.
  void compute_rates(const RecurrentContext& c, const Values& v) const {
    Matrix& rates = c.scratch(c.input.rows(), 2 * H_);
    if (by_channel()) {
      multiply(c.input, c.weights[kDecayDown], v.low);
      multiply(v.low, c.weights[kDecayUp], v.step_slope);
      multiply(c.input, c.weights[kStrength], rates.rightCols(H_));
    } else {
      multiply(c.input, c.weights[kRates], rates);
      v.step_slope = rates.leftCols(H_);
    }
    v.step_slope.rowwise() += c.parameters[step_bias_].row(0);
    softplus(v.step_slope, v.step);
    sigmoid(v.step_slope, v.step_slope);
    exponential(c.parameters[decay_speed_], v.speed.leftCols(H_));
    for (Index n = num_decays(); by_channel() && n-- > 0;) v.speed(0, n) = v.speed(0, n / D_);
    for (Index t = 0; t < v.decay.rows(); ++t) v.decay.row(t) = -v.speed.row(0).cwiseProduct(v.step.row(t));
    exponential(v.decay, v.decay);
    sigmoid(rates.rightCols(H_), v.strength);
    if (options_.strength == 2) v.strength *= 2;
  }

  void compute_rates_backward(const RecurrentContext& c, const Values& v, const Gradient& d_v, Matrix& d_input,
                              Gradients& d) const {
    const Index R = num_decays();
    Matrix &d_rates = c.scratch(c.input.rows(), R + H_), &d_log = c.scratch(1, R);
    MatrixView d_speed = d[decay_speed_];
    for (Index t = 0; t < v.decay.rows(); ++t) {
      d_log.row(0) = -d_v.decay.row(t).cwiseProduct(v.decay.row(t)).cwiseProduct(v.speed.row(0));
      for (Index n = 0; n < R; ++n) d_speed(0, n * H_ / R) += d_log(0, n) * v.step(t, n);
      if (options_.rotation) d_log.row(0) += d_v.step.row(t);
      d_rates.row(t).leftCols(R) = d_log.row(0).cwiseProduct(v.step_slope.row(t));
    }
    const Real largest = static_cast<Real>(options_.strength);
    d_rates.rightCols(H_).array() = d_v.strength.array() * v.strength.array() * (1 - v.strength.array() / largest);
    add_column_sums(d_rates.leftCols(R), d[step_bias_]);
    if (!by_channel()) {
      linear_backward(c.input, c.weights[kRates], d_rates, d_input, d[rates_.weight], d[rates_.bias]);
      return;
    }
    Matrix& d_low = c.scratch(c.input.rows(), D_);
    linear_backward(c.input, c.weights[kStrength], d_rates.rightCols(H_), d_input, d[strength_.weight],
                    d[strength_.bias]);
    linear_backward(v.low, c.weights[kDecayUp], d_rates.leftCols(R), d_low, d[decay_up_.weight], d[decay_up_.bias],
                    Accumulate::no);
    linear_backward(c.input, c.weights[kDecayDown], d_low, d_input, d[decay_down_.weight], d[decay_down_.bias]);
  }

  void rotate(const RecurrentContext& c, const Values& v) const {
    multiply(c.input, c.weights[kAngle], v.turn);
    hyperbolic_tangent(v.turn, v.turn);
    const AccumulatedAngles angles{v.turn, v.step, v.cosine, v.sine};
    accumulate_angles(angles);
    v.rotated = v.qkv;
    rotate_queries_and_keys(angles, D_, v.rotated);
  }

  void rotate_backward(const RecurrentContext& c, const Values& v, const Gradient& d_v, Matrix& d_input,
                       Gradients& d) const {
    const Index T = c.input.rows(), N = num_pairs();
    Matrix &d_angle = c.scratch(T, H_ * N), &d_turn = c.scratch(T, N);
    const AccumulatedAngles angles{v.turn, v.step, v.cosine, v.sine};
    rotate_queries_and_keys_backward(angles, D_, v.rotated, d_v.qkv, d_angle);
    accumulate_angles_backward(angles, d_angle, d_turn, d_v.step);
    d_turn.array() *= 1 - v.turn.array().square();
    linear_backward(c.input, c.weights[kAngle], d_turn, d_input, d[angle_.weight], d[angle_.bias]);
  }

  void write_result(const RecurrentContext& c, const Values& v, Matrix& result) const {
    rms_norm(by_head(v.output, D_), c.parameters[norm_.gain], by_head(v.normalized, D_), v.rstd,
             by_head(v.normed, D_));
    multiply(c.input, c.weights[kGate], v.gate_slope);
    silu(v.gate_slope, v.gate);
    v.gated = v.normed.cwiseProduct(v.gate);
    result.resize(c.input.rows(), C_);
    multiply(v.gated, c.weights[kOut], result);
  }

  void write_result_backward(const RecurrentContext& c, const Values& v, const Matrix& d_result,
                             const Gradient& d_v, Matrix& d_input, Gradients& d) const {
    Matrix &d_gated = c.scratch(c.input.rows(), C_), &d_gate = c.scratch(c.input.rows(), C_);
    linear_backward(v.gated, c.weights[kOut], d_result, d_gated, d[out_.weight], d[out_.bias], Accumulate::no);
    d_gate.array() = d_gated.array() * v.normed.array() * v.gate_slope.array();
    linear_backward(c.input, c.weights[kGate], d_gate, d_input, d[gate_.weight], d[gate_.bias], Accumulate::no);
    d_gated.array() *= v.gate.array();
    d_v.output.setZero();
    rms_norm_backward(c.parameters[norm_.gain], by_head(v.normalized, D_), v.rstd, by_head(d_gated, D_),
                      by_head(d_v.output, D_), d[norm_.gain]);
  }

  bool by_channel() const { return options_.decay == DecayOf::channel; }
  Index num_decays() const { return by_channel() ? C_ : H_; }
  Index num_pairs() const { return D_ / 2; }

  Options options_;
  Index C_, H_, D_;
  DenseParameters qkv_;
  Parameter convolution_;
  DenseParameters rates_;  // with a decay of each head
  Parameter decay_speed_, step_bias_;
  NormParameters norm_;
  DenseParameters gate_, out_;
  DenseParameters strength_, decay_down_, decay_up_;  // with a decay of each channel
  DenseParameters angle_;                             // with the rotation
};

const RegisterRecurrentLayer<GatedDeltaLayer> registered{
    {.name = "gated_delta", .summary = "the gated delta rule, then feed-forward", .in_block = "sequential"}};

}  // namespace
}  // namespace posbench::gated_delta
