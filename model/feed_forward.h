// The feed-forward layer of a block: linear, activation, linear.
#pragma once
#include <string>

#include "model/layers.h"
#include "model/position_encoding.h"

namespace posbench {

/// What forward stores for the backward, for R tokens. F is the inner width.
struct FeedForwardActivations {
  Matrix input;       // (R, C)
  Matrix derivative;  // (R, F): of the activation; before that, its input
  Matrix activated;   // (R, F)
  Matrix output;      // (R, C)
};

class FeedForward {
 public:
  /// Adds NAME.up and NAME.down to the layout.
  FeedForward(const ModelShape&, const std::string& name, ParameterLayout&);

  struct PackedWeights {
    PackedMatrix up, down;
  };
  void pack(const Parameters&, bool backward, PackedWeights&) const;

  /// a.output from a.input.
  void forward(const Parameters&, const PackedWeights&, FeedForwardActivations& a) const;
  /// d_input = the gradient of a.input; both (R, C). `d_activated` is workspace.
  void backward(const PackedWeights&, const FeedForwardActivations& a, const Matrix& d_output, Matrix& d_activated,
                Matrix& d_input, Gradients&) const;

  double multiply_adds(Index rows) const;

 private:
  ModelShape shape_;
  DenseParameters up_, down_;
};

}  // namespace posbench
