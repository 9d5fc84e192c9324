// Biases that are a function of distance alone. They are computed for each distance, not for each pair.
#pragma once
#include "encodings/parts/additive_bias.h"

namespace posbench::inline POSBENCH_REAL {

/// bias_n(i, j) = f_n(distance(i, j)) for each of the n = H or layers x H biases.
class DistanceBias : public AdditiveBias {
 public:
  using AdditiveBias::AdditiveBias;

  /// values(n, m) = f_n(distances(0, m))
  virtual void values(const Parameters&, const In& distances, Out values) const = 0;
  /// Default: no parameters are learned.
  virtual void values_backward(const Parameters&, const In& /*distances*/, const In& /*d_values*/,
                               Gradients&) const {}

  void bias(const Parameters&, const Positions&, Matrices& bias) const final;
  void bias_backward(const Parameters&, const Positions&, const Matrices& d_bias, Gradients&) const final;
};

}  // namespace posbench::inline POSBENCH_REAL
