// Breaking a stick: keys are visited in some order, and each takes its fraction of what those before it left.
#pragma once
#include <limits>

#include "model/tensor.h"

namespace posbench {

/// weight[j] = fraction[j] times the product of (1 - fraction) over the keys visited before j. `key(n)` is the
/// n-th of `count` keys visited; weights of others are left alone.
template <class Order>
void break_stick(const Real* fraction, Index count, Order key, Real* weight) {
  constexpr Real kNothing = std::numeric_limits<Real>::min() / std::numeric_limits<Real>::epsilon();
  Real left = 1;
  for (Index n = 0; n < count; ++n) {
    const Index j = key(n);
    weight[j] = left * fraction[j];
    left *= 1 - fraction[j];
    if (left < kNothing) left = 0;  // denormal products would cost a hundred times a normal one
  }
}

/// d_logit[j] += the gradient of the logit whose sigmoid is fraction[j]. With g = d_weight weight:   g_j (1 -
/// share_j) minus share_j times the sum of g over the keys visited after j.   d_weight(j) gives the gradient of
/// weight j.
template <class Order, class Gradient>
void break_stick_backward(const Real* fraction, Index count, Order key, const Real* weight, Gradient d_weight,
                          Real* d_logit) {
  Real later = 0;
  for (Index n = count; n-- > 0;) {
    const Index j = key(n);
    const Real g = d_weight(j) * weight[j];
    d_logit[j] += g * (1 - fraction[j]) - fraction[j] * later;
    later += g;
  }
}

}  // namespace posbench
