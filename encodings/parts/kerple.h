// The common code of KERPLE's two kernels, which differ in one function of distance.
#pragma once
#include <string>

#include "encodings/parts/distance_bias.h"

namespace posbench {

/// bias_n(i, j) = kernel(r1_n, r2_n, |i - j|), r1 and r2 >= 0.01: two scalars for each head, of all layers or of
/// each.
class Kerple : public DistanceBias {
 public:
  /// Where a parameter starts, uniformly over (0, high), and how far training may take it.
  struct Range {
    double high, max;
  };
  /// Parameters are called NAME.r1 and NAME.r2.
  Kerple(const std::string& name, bool per_layer, Range r1, Range r2, const ModelShape&, ParameterLayout&);

  struct Value {
    Real kernel, d_r1, d_r2;  // the kernel and its derivatives
  };
  virtual Value kernel(Real r1, Real r2, Real distance) const = 0;

  void constrain(Parameters&) const final;
  bool per_layer() const final { return r1_.rows > 1; }
  bool learned() const final { return true; }
  void values(const Parameters&, const In& distances, Out values) const final;
  void values_backward(const Parameters&, const In& distances, const In& d_values, Gradients&) const final;

 private:
  Parameter r1_, r2_;  // (1, H) or (layers, H)
  Range range1_, range2_;
};

}  // namespace posbench
