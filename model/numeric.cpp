#include "model/numeric.h"

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "model/kernels.h"
#include "model/lanes.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// Returns whether the rows of m follow each other in memory.
template <class M>
bool is_contiguous(const M& m) {
  return m.outerStride() == m.cols();
}

void entrywise(void (*f)(const Real*, Index, Real*), const In& x, Out& y) {
  eigen_assert(x.rows() == y.rows() && x.cols() == y.cols());
  if (is_contiguous(x) && is_contiguous(y)) return f(x.data(), x.size(), y.data());
  for (Index i = 0; i < x.rows(); ++i) f(x.row(i).data(), x.cols(), y.row(i).data());
}

/// x = m 2^n with m in [1 / sqrt(2), sqrt(2)):   log x = n log 2 + log m,
///   log m = 2 atanh(t),   t = (m - 1) / (m + 1), |t| <= 0.172,   atanh(t) / t a polynomial in t^2
Lanes logarithm(Lanes x) {
  if constexpr (std::is_same_v<Real, double>) {
    for (Index n = 0; n < kLanes; ++n) x[n] = std::log(x[n]);
    return x;
  } else {
    constexpr std::int32_t kRootHalf = 0x3f3504f3, kMantissa = 23;
    const IntLanes bits = IntLanes(x) - kRootHalf, n = bits >> kMantissa;
    const Lanes m = Lanes(IntLanes(x) - (n << kMantissa)), exponent = __builtin_convertvector(n, Lanes);
    const Lanes t = (m - 1) / (m + 1), u = t * t;
    Lanes series = fused(u, Real(0.2249), Real(0.2857143));
    for (const Real next : {Real(0.4), Real(0.66666667)}) series = fused(u, series, next);
    const Lanes rest = fused(t, u * series, exponent * Real(1.42860677e-6));
    return fused(exponent, Real(0.693145752), fused(t, Real(2), rest));
  }
}

/// Splits x into n pi / 2 + r with |r| <= pi / 4. Sine and cosine of x are those of r up to their signs, exchanged
/// if n is odd.
void sine_cosine(Lanes x, Lanes& sine, Lanes& cosine) {
  if constexpr (std::is_same_v<Real, double>) {
    for (Index n = 0; n < kLanes; ++n) {
      sine[n] = std::sin(x[n]);
      cosine[n] = std::cos(x[n]);
    }
  } else {
    constexpr Real kRounder = 3 << 22;  // 1.5 * 2^23: added to n + a fraction, its last bits are n
    const Lanes rounded = fused(x, Real(0.636619772), kRounder), n = rounded - kRounder;
    Lanes r = x;
    for (const Real piece : {Real(-1.5703125), Real(-4.83751297e-4), Real(-7.549789955e-8)})
      r = fused(n, piece, r);
    const Lanes u = r * r;
    const Lanes third = fused(u, fused(u, Real(-1.9515296e-4), Real(8.3321609e-3)), Real(-1.6666655e-1));
    const Lanes of_sine = fused(r * u, third, r);
    const Lanes fourth = fused(u, fused(u, Real(2.4433157e-5), Real(-1.3887316e-3)), Real(4.1666646e-2));
    const Lanes of_cosine = fused(u * u, fourth, fused(u, Real(-0.5), Real(1)));
    const IntLanes quadrant = IntLanes(rounded), turned = quadrant << 31 >> 31;
    const Lanes s = turned ? of_cosine : of_sine, c = turned ? of_sine : of_cosine;
    sine = Lanes(IntLanes(s) ^ ((quadrant >> 1) << 31));
    cosine = Lanes(IntLanes(c) ^ (((quadrant + 1) >> 1) << 31));
  }
}

}  // namespace

void exponential(const In& x, Out y) { entrywise(kernels().exponential, x, y); }
void sigmoid(const In& x, Out y) { entrywise(kernels().sigmoid, x, y); }
// tanh(x) = 2 sigmoid(2 x) - 1
void hyperbolic_tangent(const In& x, Out y) {
  y = 2 * x;
  sigmoid(y, y);
  y.array() = 2 * y.array() - 1;
}
void softplus(const In& x, Out y) { entrywise(kernels().softplus, x, y); }

void logarithm(const In& x, Out y) {
  for (Index i = 0; i < x.rows(); ++i) {
    for_each_lanes(x.cols(), [&](Index j, Index count) {
      store(logarithm(load(x.row(i).data() + j, count, 1)), y.row(i).data() + j, count);
    });
  }
}

void sine_cosine(const In& angles, Out sines, Out cosines) {
  for (Index i = 0; i < angles.rows(); ++i) {
    for_each_lanes(angles.cols(), [&](Index j, Index count) {
      Lanes sine, cosine;
      sine_cosine(load(angles.row(i).data() + j, count, 0), sine, cosine);
      store(sine, sines.row(i).data() + j, count);
      store(cosine, cosines.row(i).data() + j, count);
    });
  }
}

Real sum(const In& x) {
  if (is_contiguous(x)) return kernels().sum(x.data(), x.size());
  Real total = 0;
  for (Index i = 0; i < x.rows(); ++i) total += kernels().sum(x.row(i).data(), x.cols());
  return total;
}

Real dot(const In& a, const In& b) {
  eigen_assert(a.rows() == b.rows() && a.cols() == b.cols());
  if (is_contiguous(a) && is_contiguous(b)) return kernels().dot(a.data(), b.data(), a.size());
  Real total = 0;
  for (Index i = 0; i < a.rows(); ++i) total += kernels().dot(a.row(i).data(), b.row(i).data(), a.cols());
  return total;
}

void add_column_sums(const In& x, Out sums) {
  eigen_assert(x.cols() == sums.size());
  kernels().add_column_sums({x.data(), x.rows(), x.cols(), x.outerStride()}, sums.data());
}

}  // namespace posbench::inline POSBENCH_REAL
