// Computes the feed-forward layer of a block: linear, activation, linear; or SwiGLU, in which a second linear
// layer gates the first.
//
//   gelu, relu   y = a(x up) down
//   swiglu       y = (silu(x gate) * (x up)) down     (Shazeer 2020, arXiv:2002.05202)
//
// With ModelOptions::convolution, x is first convolved over the tokens (place c), and so are x up and x gate (d).
#pragma once
#include <optional>
#include <string>

#include "model/layers.h"
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// The values that forward stores for the backward, for R tokens. F is the inner width.
struct FeedForwardActivations {
  Matrix input;                              // (R, C)
  Matrix derivative;                         // (R, F): of the activation; before that, its input
  Matrix activated;                          // (R, F): what the last linear layer reads
  Matrix up, gate;                           // (R, F), of SwiGLU: x up, and silu(x gate)
  Matrix output;                             // (R, C)
  Matrix unmixed, unmixed_up, unmixed_gate;  // the inputs of the convolutions
};

/// Memory of a backward.
struct FeedForwardWorkspace {
  Matrix d_activated, d_gate;  // (R, F)
  Matrix d_mixed;              // the gradient of a convolution's result
};

/// The weights in the order in which products read them.
struct FeedForwardWeights {
  PackedMatrix up, gate, down;
};

/// The arguments that forward and backward share.
struct FeedForwardContext {
  const Parameters& parameters;
  const FeedForwardWeights& weights;
};

class FeedForward {
 public:
  /// Adds NAME.up, NAME.down and, for SwiGLU, NAME.gate to the layout, and the taps of convolutions.
  FeedForward(const ModelConfig&, const std::string& name, ParameterLayout&);

  void pack(const Parameters&, bool backward, FeedForwardWeights&) const;

  /// Computes a.output from a.input, which a convolution replaces. With convolutions the R tokens are consecutive.
  void forward(const FeedForwardContext&, FeedForwardActivations& a) const;
  /// d_input = the gradient of a.input; both are (R, C).
  void backward(const FeedForwardContext&, const FeedForwardActivations& a, const Matrix& d_output,
                FeedForwardWorkspace&, Matrix& d_input, Gradients&) const;

  /// Returns the multiply-adds of one forward over R tokens.
  double multiply_adds(Index rows) const;

 private:
  bool gated() const { return config_.activation == Activation::swiglu; }

  ModelConfig config_;
  DenseParameters up_, down_, gate_;
  std::optional<Parameter> convolution_, up_convolution_, gate_convolution_;  // (taps, channels)
};

}  // namespace posbench::inline POSBENCH_REAL
