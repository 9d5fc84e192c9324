#include "model/feed_forward.h"

#include <optional>
#include <string>

#include "model/token_convolution.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

using Taps = std::optional<Parameter>;

void mix(const FeedForwardContext& c, const Taps& taps, Matrix& x, Matrix& input) {
  if (taps) residual_convolution(c.parameters[*taps], x, input);
}
void mix_backward(const FeedForwardContext& c, const Taps& taps, const Matrix& input, Matrix& d_x,
                  FeedForwardWorkspace& workspace, Gradients& d) {
  if (taps) residual_convolution_backward(c.parameters[*taps], input, d_x, workspace.d_mixed, d[*taps]);
}

}  // namespace

FeedForward::FeedForward(const ModelConfig& config, const std::string& name, ParameterLayout& layout)
    : config_(config),
      up_(add_dense(layout, name + ".up", config.width, config.inner_width(), config.biases)),
      down_(add_dense(layout, name + ".down", config.inner_width(), config.width, config.biases)) {
  const Index F = config.inner_width();
  if (gated()) gate_ = add_dense(layout, name + ".gate", config.width, F, config.biases);
  if (config.convolution.feed_forward)
    convolution_ = add_residual_convolution(layout, name + ".convolution", config.width);
  if (!config.convolution.inner) return;
  up_convolution_ = add_residual_convolution(layout, name + ".up_convolution", F);
  if (gated()) gate_convolution_ = add_residual_convolution(layout, name + ".gate_convolution", F);
}

void FeedForward::pack(const Parameters& p, bool backward, FeedForwardWeights& weights) const {
  weights.up.fill(p[up_.weight], backward);
  weights.down.fill(p[down_.weight], backward);
  if (gated()) weights.gate.fill(p[gate_.weight], backward);
}

void FeedForward::forward(const FeedForwardContext& c, FeedForwardActivations& a) const {
  const auto& [p, weights] = c;
  const Index R = a.input.rows(), F = config_.inner_width();
  a.derivative.resize(R, F);
  a.activated.resize(R, F);
  a.output.resize(R, config_.width);
  mix(c, convolution_, a.input, a.unmixed);
  if (gated()) {
    a.up.resize(R, F);
    a.gate.resize(R, F);
    linear(a.input, weights.gate, p[gate_.bias], a.derivative);
    linear(a.input, weights.up, p[up_.bias], a.up);
    mix(c, gate_convolution_, a.derivative, a.unmixed_gate);
    mix(c, up_convolution_, a.up, a.unmixed_up);
    silu(a.derivative, a.gate);
    a.activated = a.gate.cwiseProduct(a.up);
  } else {
    linear(a.input, weights.up, p[up_.bias], a.derivative);
    mix(c, up_convolution_, a.derivative, a.unmixed_up);
    const bool is_gelu = config_.activation == Activation::gelu;
    is_gelu ? gelu(a.derivative, a.activated) : relu(a.derivative, a.activated);
  }
  linear(a.activated, weights.down, p[down_.bias], a.output);
}

void FeedForward::backward(const FeedForwardContext& c, const FeedForwardActivations& a, const Matrix& d_output,
                           FeedForwardWorkspace& workspace, Matrix& d_input, Gradients& d) const {
  const FeedForwardWeights& weights = c.weights;
  Matrix &d_activated = workspace.d_activated, &d_gate = workspace.d_gate;
  d_activated.resize(d_output.rows(), config_.inner_width());
  d_input.resize(d_output.rows(), config_.width);
  linear_backward(a.activated, weights.down, d_output, d_activated, d[down_.weight], d[down_.bias],
                  Accumulate::no);
  if (gated()) {
    d_gate.resize(d_activated.rows(), d_activated.cols());
    d_gate.array() = d_activated.array() * a.up.array() * a.derivative.array();
    d_activated.array() *= a.gate.array();
  } else {
    d_activated.array() *= a.derivative.array();
  }
  mix_backward(c, up_convolution_, a.unmixed_up, d_activated, workspace, d);
  linear_backward(a.input, weights.up, d_activated, d_input, d[up_.weight], d[up_.bias], Accumulate::no);
  if (gated()) {
    mix_backward(c, gate_convolution_, a.unmixed_gate, d_gate, workspace, d);
    linear_backward(a.input, weights.gate, d_gate, d_input, d[gate_.weight], d[gate_.bias]);
  }
  mix_backward(c, convolution_, a.unmixed, d_input, workspace, d);
}

double FeedForward::multiply_adds(Index rows) const {
  const Index F = config_.inner_width(), convolved = (convolution_ ? config_.width : 0) +
                                                     (up_convolution_ ? F : 0) + (gate_convolution_ ? F : 0);
  const double taps = static_cast<double>(rows * convolved * kConvolutionTaps);
  return taps + (gated() ? 3.0 : 2.0) * static_cast<double>(rows) * config_.width * static_cast<double>(F);
}

}  // namespace posbench::inline POSBENCH_REAL
