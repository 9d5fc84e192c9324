#include "model/feed_forward.h"

namespace posbench {

FeedForward::FeedForward(const ModelShape& shape, const std::string& name, ParameterLayout& layout)
    : shape_(shape),
      up_(add_dense(layout, name + ".up", shape.width, shape.inner_width())),
      down_(add_dense(layout, name + ".down", shape.inner_width(), shape.width)) {}

void FeedForward::pack(const Parameters& p, bool backward, PackedWeights& weights) const {
  weights.up.fill(p[up_.weight], backward);
  weights.down.fill(p[down_.weight], backward);
}

void FeedForward::forward(const Parameters& p, const PackedWeights& weights, FeedForwardActivations& a) const {
  const Index R = a.input.rows();
  a.derivative.resize(R, shape_.inner_width());
  a.activated.resize(R, shape_.inner_width());
  a.output.resize(R, shape_.width);
  linear(a.input, weights.up, p[up_.bias], a.derivative);
  shape_.gelu ? gelu(a.derivative, a.activated) : relu(a.derivative, a.activated);
  linear(a.activated, weights.down, p[down_.bias], a.output);
}

void FeedForward::backward(const PackedWeights& weights, const FeedForwardActivations& a, const Matrix& d_output,
                           Matrix& d_activated, Matrix& d_input, Gradients& d) const {
  d_activated.resize(d_output.rows(), shape_.inner_width());
  d_input.resize(d_output.rows(), shape_.width);
  first_linear_backward(a.activated, weights.down, d_output, d_activated, d[down_.weight], d[down_.bias]);
  d_activated.array() *= a.derivative.array();
  first_linear_backward(a.input, weights.up, d_activated, d_input, d[up_.weight], d[up_.bias]);
}

double FeedForward::multiply_adds(Index rows) const {
  return 2.0 * static_cast<double>(rows) * shape_.width * shape_.inner_width();
}

}  // namespace posbench
