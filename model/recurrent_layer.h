// Defines the layers that read the tokens one after the other and take the place of attention in a block. Each has
// a file in model/blocks, which begins with its equations and registers the kind of block (model/block.h).
#pragma once
#include <string>
#include <vector>

#include "model/layers.h"
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// The weights of a recurrent layer in the order in which products read them; each layer numbers its own.
using RecurrentWeights = std::vector<PackedMatrix>;

/// The arguments that forward and backward of a recurrent layer share, for one sequence.
struct RecurrentContext {
  const Parameters& parameters;
  const RecurrentWeights& weights;
  const Matrix& input;  // (T, C)
  Matrices& values;     // those that forward stores for backward; each layer numbers its own
  Scratch& scratch;
};

class RecurrentLayer {
 public:
  virtual ~RecurrentLayer() = default;

  virtual void pack(const Parameters&, bool backward, RecurrentWeights&) const = 0;

  /// Computes result (T, C). Row t depends on the rows of the input up to t only.
  virtual void forward(const RecurrentContext&, Matrix& result) const = 0;
  /// d_input (T, C) = the gradient of the input. d_result is (T, C).
  virtual void backward(const RecurrentContext&, const Matrix& d_result, Matrix& d_input, Gradients&) const = 0;

  /// Returns the multiply-adds of one forward over T tokens.
  virtual double multiply_adds(Index length) const = 0;
};

}  // namespace posbench::inline POSBENCH_REAL
