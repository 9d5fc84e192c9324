#include "model/feed_forward.h"

namespace posbench {

FeedForward::FeedForward(const ModelShape& shape, const std::string& name, ParameterLayout& layout)
    : shape_(shape),
      up_(add_dense(layout, name + ".up", shape.width, shape.inner_width(), shape.biases)),
      down_(add_dense(layout, name + ".down", shape.inner_width(), shape.width, shape.biases)) {
  if (gated()) gate_ = add_dense(layout, name + ".gate", shape.width, shape.inner_width(), shape.biases);
}

void FeedForward::pack(const Parameters& p, bool backward, PackedWeights& weights) const {
  weights.up.fill(p[up_.weight], backward);
  weights.down.fill(p[down_.weight], backward);
  if (gated()) weights.gate.fill(p[gate_.weight], backward);
}

void FeedForward::forward(const Parameters& p, const PackedWeights& weights, FeedForwardActivations& a) const {
  const Index R = a.input.rows(), F = shape_.inner_width();
  a.derivative.resize(R, F);
  a.activated.resize(R, F);
  a.output.resize(R, shape_.width);
  if (gated()) {
    a.up.resize(R, F);
    a.gate.resize(R, F);
    linear(a.input, weights.gate, p[gate_.bias], a.derivative);
    linear(a.input, weights.up, p[up_.bias], a.up);
    silu(a.derivative, a.gate);
    a.activated = a.gate.cwiseProduct(a.up);
  } else {
    linear(a.input, weights.up, p[up_.bias], a.derivative);
    const bool is_gelu = shape_.feed_forward_kind == FeedForwardKind::gelu;
    is_gelu ? gelu(a.derivative, a.activated) : relu(a.derivative, a.activated);
  }
  linear(a.activated, weights.down, p[down_.bias], a.output);
}

void FeedForward::backward(const PackedWeights& weights, const FeedForwardActivations& a, const Matrix& d_output,
                           FeedForwardWorkspace& workspace, Matrix& d_input, Gradients& d) const {
  auto& [d_activated, d_gate] = workspace;
  d_activated.resize(d_output.rows(), shape_.inner_width());
  d_input.resize(d_output.rows(), shape_.width);
  first_linear_backward(a.activated, weights.down, d_output, d_activated, d[down_.weight], d[down_.bias]);
  if (gated()) {
    d_gate.resize(d_activated.rows(), d_activated.cols());
    d_gate.array() = d_activated.array() * a.up.array() * a.derivative.array();
    d_activated.array() *= a.gate.array();
  } else {
    d_activated.array() *= a.derivative.array();
  }
  first_linear_backward(a.input, weights.up, d_activated, d_input, d[up_.weight], d[up_.bias]);
  if (gated()) linear_backward(a.input, weights.gate, d_gate, d_input, d[gate_.weight], d[gate_.bias]);
}

double FeedForward::multiply_adds(Index rows) const {
  return (gated() ? 3.0 : 2.0) * static_cast<double>(rows) * shape_.width * shape_.inner_width();
}

}  // namespace posbench
