// Forget gates: biases that accumulate along the sequence.
#pragma once
#include <string>
#include <vector>

#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// scores[h](i, j) += weight (levels(h, i) - levels(h, j)) for j <= i.   levels (H, T)
void add_differences(const In& levels, Real weight, Heads& scores);
/// d_levels(h, t) += weight (row sum - column sum of d_scores[h] at t)
void add_differences_backward(Real weight, const Heads& d_scores, Out d_levels);

/// scores[h](i, j) += weight (F_i - F_j),   F_t = sum over s <= t of log sigmoid(sign (x_s . w_h + b_h))
///
/// Each layer, head and token has a gate in (0, 1). The bias is the logarithm of the product of the gates
/// between key and query.
class ForgetGate {
 public:
  /// Adds NAME.gate.LAYER.weight (C, H), N(0, 0.02), and NAME.gate.LAYER.bias (1, H).
  ForgetGate(const std::string& name, Real sign, double initial_bias, const ModelConfig&, ParameterLayout&);

  void add(const AttentionInput&, Real weight, Heads& scores) const;
  void add_backward(const AttentionInput&, Real weight, const Heads& d_scores, AttentionGradient&) const;

 private:
  Real sign_;
  std::vector<Parameter> weights_, biases_;  // (C, H), (1, H), one for each layer
};

}  // namespace posbench::inline POSBENCH_REAL
