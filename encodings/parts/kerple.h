// The common code of KERPLE's two kernels, which differ in one function of distance.
#pragma once
#include <string>

#include "base/options.h"
#include "encodings/parts/distance_bias.h"
#include "encodings/registry.h"

namespace posbench::inline POSBENCH_REAL {

/// bias_n(i, j) = kernel(r1_n, r2_n, |i - j|),   r1, r2 >= 0.01, two scalars for each head
class Kerple : public DistanceBias {
 public:
  struct Options {
    bool per_layer = false;
    void describe(OptionTable& o) { o.flag("per_layer", per_layer, "r1 and r2 for each layer"); }
  };
  /// A parameter starts uniform over (0, high), and training keeps it in [0.01, max].
  struct Range {
    double high, max;
  };
  /// Adds NAME.r1 and NAME.r2.
  Kerple(const std::string& name, const Options&, Range r1, Range r2, const ModelConfig&, ParameterLayout&);

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

/// Adds to a kernel's name, equation and notes the source, notes and properties that both kernels share.
EncodingInfo kerple_info(EncodingInfo);

}  // namespace posbench::inline POSBENCH_REAL
