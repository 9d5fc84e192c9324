#include "model/feed_forward.h"

#include <string>

namespace posbench::inline POSBENCH_REAL {

FeedForward::FeedForward(const ModelConfig& config, const std::string& name, ParameterLayout& layout)
    : config_(config),
      up_(add_dense(layout, name + ".up", config.width, config.inner_width(), config.biases)),
      down_(add_dense(layout, name + ".down", config.inner_width(), config.width, config.biases)) {
  if (gated()) gate_ = add_dense(layout, name + ".gate", config.width, config.inner_width(), config.biases);
}

void FeedForward::pack(const Parameters& p, bool backward, FeedForwardWeights& weights) const {
  weights.up.fill(p[up_.weight], backward);
  weights.down.fill(p[down_.weight], backward);
  if (gated()) weights.gate.fill(p[gate_.weight], backward);
}

void FeedForward::forward(const Parameters& p, const FeedForwardWeights& weights,
                          FeedForwardActivations& a) const {
  const Index R = a.input.rows(), F = config_.inner_width();
  a.derivative.resize(R, F);
  a.activated.resize(R, F);
  a.output.resize(R, config_.width);
  if (gated()) {
    a.up.resize(R, F);
    a.gate.resize(R, F);
    linear(a.input, weights.gate, p[gate_.bias], a.derivative);
    linear(a.input, weights.up, p[up_.bias], a.up);
    silu(a.derivative, a.gate);
    a.activated = a.gate.cwiseProduct(a.up);
  } else {
    linear(a.input, weights.up, p[up_.bias], a.derivative);
    const bool is_gelu = config_.activation == Activation::gelu;
    is_gelu ? gelu(a.derivative, a.activated) : relu(a.derivative, a.activated);
  }
  linear(a.activated, weights.down, p[down_.bias], a.output);
}

void FeedForward::backward(const FeedForwardWeights& weights, const FeedForwardActivations& a,
                           const Matrix& d_output, FeedForwardWorkspace& workspace, Matrix& d_input,
                           Gradients& d) const {
  auto& [d_activated, d_gate] = workspace;
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
  linear_backward(a.input, weights.up, d_activated, d_input, d[up_.weight], d[up_.bias], Accumulate::no);
  if (gated()) linear_backward(a.input, weights.gate, d_gate, d_input, d[gate_.weight], d[gate_.bias]);
}

double FeedForward::multiply_adds(Index rows) const {
  return (gated() ? 3.0 : 2.0) * static_cast<double>(rows) * config_.width * config_.inner_width();
}

}  // namespace posbench::inline POSBENCH_REAL
