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
// Departures: keys and values have the width D of a head; the paper's values are twice as wide as its keys. b_t is
// at most 1 as in the paper: parity needs eigenvalues below 0, and thus b_t up to 2 (arXiv:2411.12537).
#include <algorithm>
#include <cmath>
#include <string>

#include "model/block.h"

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

/// Returns a view with a row of D entries for each head of each token.
MatrixView by_head(Matrix& m, Index head_width) { return {m.data(), m.size() / head_width, head_width}; }

class GatedDeltaLayer final : public RecurrentLayer {
 public:
  GatedDeltaLayer(const ModelConfig& config, const std::string& name, ParameterLayout& layout)
      : C_(config.width),
        H_(config.heads),
        D_(config.head_width()),
        qkv_(add_dense(layout, name + ".qkv", C_, 3 * C_, /*biases=*/false)),
        convolution_(layout.uniform(name + ".convolution", kTaps, 3 * C_, -0.5, 0.5)),
        rates_(add_dense(layout, name + ".rates", C_, 2 * H_, /*biases=*/false)),
        decay_speed_(layout.add(name + ".decay_speed", 1, H_, draw_decay_speed)),
        step_bias_(layout.add(name + ".step_bias", 1, H_, draw_step_bias)),
        norm_(add_norm(layout, name + ".norm", D_, NormKind::rms_norm)),
        gate_(add_dense(layout, name + ".gate", C_, C_, /*biases=*/false)),
        out_(add_dense(layout, name + ".out", C_, C_, /*biases=*/false)) {}

  void pack(const Parameters& p, bool backward, RecurrentWeights& weights) const override {
    weights.resize(kNumWeights);
    weights[kQkv].fill(p[qkv_.weight], backward);
    weights[kRates].fill(p[rates_.weight], backward);
    weights[kGate].fill(p[gate_.weight], backward);
    weights[kOut].fill(p[out_.weight], backward);
  }

  void forward(const RecurrentContext& c, Matrix& result) const override {
    const Values v = values(c.values, c.input.rows());
    project(c, v);
    compute_rates(c, v);
    for (Index h = 0; h < H_; ++h) recur(c, v, h);
    write_result(c, v, result);
    c.scratch.release();
  }

  void backward(const RecurrentContext& c, const Matrix& d_result, Matrix& d_input, Gradients& d) const override {
    const Index T = c.input.rows();
    const Values v = values(c.values, T);
    const Gradient d_v{c.scratch(T, C_), c.scratch(T, 3 * C_), c.scratch(T, H_), c.scratch(T, H_)};
    write_result_backward(c, v, d_result, d_v, d_input, d);
    for (Index h = 0; h < H_; ++h) recur_backward(c, v, d_v, h);
    compute_rates_backward(c, v, d_v, d_input, d);
    project_backward(c, v, d_v, d_input, d);
    c.scratch.release();
  }

  double multiply_adds(Index length) const override {
    // The state of a head has D^2 entries: they are read twice, decayed, and added to.
    const auto C = static_cast<double>(C_), H = static_cast<double>(H_), D = static_cast<double>(D_);
    return static_cast<double>(length) * (5 * C * C + 2 * C * H + 3 * C * kTaps + 4 * C * D);
  }

 private:
  enum : size_t { kQkv, kRates, kGate, kOut, kNumWeights };
  struct Values {
    Matrix &projected, &slope;                   // (T, 3 C): x W, and the derivative of silu
    Matrix& qkv;                                 // (T, 3 C): the heads of q, of k and of v
    Matrix& unit;                                // (T, 2 H): 1 / norm of q and of k
    Matrix &step, &step_slope;                   // (T, H): softplus, and its derivative
    Matrix &decay, &strength, &speed;            // (T, H): a, b; (1, H): exp(A)
    Matrix& states;                              // (T H D, D): the transpose of S after each token, of each head
    Matrix &retrieved, &output;                  // (T, C): S_{t-1} k_t and o
    Matrix &normalized, &rstd;                   // (T, C), (T H, 1): of RMSNorm
    Matrix &normed, &gate, &gate_slope, &gated;  // (T, C)
  };
  static constexpr size_t kNumValues = 18;
  /// The gradients of these values.
  struct Gradient {
    Matrix &output, &qkv, &decay, &strength;
  };

  Values values(Matrices& m, Index T) const {
    m.resize(kNumValues);
    size_t n = 0;
    const auto next = [&](Index rows, Index cols) -> Matrix& {
      m[n].resize(rows, cols);
      return m[n++];
    };
    return {.projected = next(T, 3 * C_),
            .slope = next(T, 3 * C_),
            .qkv = next(T, 3 * C_),
            .unit = next(T, 2 * H_),
            .step = next(T, H_),
            .step_slope = next(T, H_),
            .decay = next(T, H_),
            .strength = next(T, H_),
            .speed = next(1, H_),
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

  void compute_rates(const RecurrentContext& c, const Values& v) const {
    Matrix& rates = c.scratch(c.input.rows(), 2 * H_);
    multiply(c.input, c.weights[kRates], rates);
    v.step_slope = rates.leftCols(H_);
    v.step_slope.rowwise() += c.parameters[step_bias_].row(0);
    softplus(v.step_slope, v.step);
    sigmoid(v.step_slope, v.step_slope);
    exponential(c.parameters[decay_speed_], v.speed);
    for (Index t = 0; t < v.decay.rows(); ++t) v.decay.row(t) = -v.speed.row(0).cwiseProduct(v.step.row(t));
    exponential(v.decay, v.decay);
    sigmoid(rates.rightCols(H_), v.strength);
  }

  void compute_rates_backward(const RecurrentContext& c, const Values& v, const Gradient& d_v, Matrix& d_input,
                              Gradients& d) const {
    Matrix &d_rates = c.scratch(c.input.rows(), 2 * H_), &d_log = c.scratch(1, H_);
    MatrixView d_speed = d[decay_speed_];
    for (Index t = 0; t < v.decay.rows(); ++t) {
      d_log.row(0) = -d_v.decay.row(t).cwiseProduct(v.decay.row(t)).cwiseProduct(v.speed.row(0));
      d_speed.row(0) += d_log.row(0).cwiseProduct(v.step.row(t));
      d_rates.row(t).leftCols(H_) = d_log.row(0).cwiseProduct(v.step_slope.row(t));
    }
    d_rates.rightCols(H_).array() = d_v.strength.array() * v.strength.array() * (1 - v.strength.array());
    add_column_sums(d_rates.leftCols(H_), d[step_bias_]);
    linear_backward(c.input, c.weights[kRates], d_rates, d_input, d[rates_.weight], d[rates_.bias]);
  }

  /// Computes the states and outputs of a head: S_t = a_t S_{t-1} + e_t k_t^T,   e_t = b_t (v_t - a_t S_{t-1}
  /// k_t).
  void recur(const RecurrentContext& c, const Values& v, Index h) const {
    const MatrixView heads = by_head(v.qkv, D_);
    MatrixView retrieved = by_head(v.retrieved, D_), output = by_head(v.output, D_);
    Matrix& e = c.scratch(1, D_);
    for (Index t = 0; t < v.qkv.rows(); ++t) {
      const auto q = heads.row(row(t, 0, h)), k = heads.row(row(t, 1, h)), value = heads.row(row(t, 2, h));
      const Real a = v.decay(t, h), b = v.strength(t, h);
      MatrixView state = this->state(v, t, h);
      auto r = retrieved.row(t * H_ + h), o = output.row(t * H_ + h);
      r.setZero();
      o.setZero();
      if (t > 0) {
        const MatrixView before = this->state(v, t - 1, h);
        for (Index j = 0; j < D_; ++j) r += k(j) * before.row(j);
        state = a * before;
      } else {
        state.setZero();
      }
      e.row(0) = b * (value - a * r);
      for (Index j = 0; j < D_; ++j) state.row(j) += k(j) * e.row(0);
      for (Index j = 0; j < D_; ++j) o += scale() * q(j) * state.row(j);
    }
  }

  void recur_backward(const RecurrentContext& c, const Values& v, const Gradient& d_v, Index h) const {
    const MatrixView heads = by_head(v.qkv, D_), retrieved = by_head(v.retrieved, D_),
                     d_output = by_head(d_v.output, D_);
    MatrixView d_heads = by_head(d_v.qkv, D_);
    Matrix &rest = c.scratch(1, D_), &d_e = c.scratch(1, D_), &d_r = c.scratch(1, D_),
           &d_state = c.scratch(D_, D_);
    d_state.setZero();
    for (Index t = v.qkv.rows(); t-- > 0;) {
      const auto q = heads.row(row(t, 0, h)), k = heads.row(row(t, 1, h)), value = heads.row(row(t, 2, h));
      auto d_q = d_heads.row(row(t, 0, h)), d_k = d_heads.row(row(t, 1, h)), d_value = d_heads.row(row(t, 2, h));
      const auto r = retrieved.row(t * H_ + h), d_o = d_output.row(t * H_ + h);
      const Real a = v.decay(t, h), b = v.strength(t, h);
      const MatrixView state = this->state(v, t, h);
      rest.row(0) = value - a * r;  // e / b
      d_e.setZero();
      for (Index j = 0; j < D_; ++j) {
        d_q(j) = scale() * dot(state.row(j), d_o);
        d_state.row(j) += scale() * q(j) * d_o;
        d_k(j) = b * dot(d_state.row(j), rest);
        d_e.row(0) += k(j) * d_state.row(j);
      }
      d_v.strength(t, h) = dot(d_e, rest);
      d_value = b * d_e.row(0);
      d_v.decay(t, h) = 0;
      if (t == 0) break;
      const MatrixView before = this->state(v, t - 1, h);
      d_v.decay(t, h) = dot(d_state, before) - b * dot(d_e, r);
      d_r = -a * b * d_e;
      for (Index j = 0; j < D_; ++j) {
        d_k(j) += dot(d_r, before.row(j));
        d_state.row(j) = a * d_state.row(j) + k(j) * d_r.row(0);
      }
    }
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

  /// Returns the row, by head, of q (part 0), k (1) or v (2).
  Index row(Index t, Index part, Index h) const { return (t * 3 + part) * H_ + h; }
  MatrixView state(const Values& v, Index t, Index h) const {
    return {v.states.data() + (t * H_ + h) * D_ * D_, D_, D_};
  }
  Real scale() const { return 1 / std::sqrt(static_cast<Real>(D_)); }

  Index C_, H_, D_;
  DenseParameters qkv_;
  Parameter convolution_;
  DenseParameters rates_;
  Parameter decay_speed_, step_bias_;
  NormParameters norm_;
  DenseParameters gate_, out_;
};

const RegisterRecurrentLayer<GatedDeltaLayer> registered{
    {.name = "gated_delta", .summary = "the gated delta rule, then feed-forward", .in_block = "sequential"}};

}  // namespace
}  // namespace posbench::gated_delta
