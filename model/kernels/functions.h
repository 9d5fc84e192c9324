// Defines elementary functions of vectors that give the same bytes on every processor.
#pragma once
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "model/lanes.h"

namespace posbench::inline POSBENCH_REAL {
inline namespace POSBENCH_ISA {

using NarrowBits = std::uint32_t __attribute__((vector_size(32)));
using WideBits = std::uint32_t __attribute__((vector_size(64)));
template <class V>
using BitsOf = std::conditional_t<sizeof(V) == 64, WideBits, NarrowBits>;  // the bits of a vector of floats

/// Returns e^x with a relative error of 2e-7; 0 below -87, the range of floats, and e^88 above 88. NaN stays NaN.
///   e^x = 2^n e^r,   n the nearest integer to x / log 2, |r| <= log 2 / 2,
///   e^r = 1 + r + r^2 (a polynomial whose largest relative error there is least)
template <class V>
V exponential(V x) {
  if constexpr (std::is_same_v<Real, double>) {
    for (Index n = 0; n < kLanesOf<V>; ++n) x[n] = std::exp(x[n]);
    return x;
  } else {
    using Bits = BitsOf<V>;
    constexpr Real kRounder = 3 << 22;  // 1.5 * 2^23: added to n + a fraction, its last bits are n
    const V most = V{} + 88;
    V bounded;
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64) bounded = V(_mm512_maskz_min_ps(0xffff, __m512(most), __m512(x)));
#endif
#if defined(__AVX__)
    if constexpr (sizeof(V) == 32) bounded = V(_mm256_min_ps(__m256(most), __m256(x)));  // which GCC does not find
#else
    bounded = x > most ? most : x;
#endif
    const V rounded = fused(bounded, Real(1.44269504), kRounder), n = rounded - kRounder;
    const V r = fused(n, Real(-1.42860677e-6), fused(n, Real(-0.693145752), bounded));  // log 2, in two pieces
    V series = fused(r, Real(0.00831252), Real(0.04189016));
    for (const Real next : {Real(0.16667115), Real(0.49999231), Real(1), Real(1)}) series = fused(r, series, next);
    const V power = V(Bits(series) + (Bits(rounded) << 23));  // times 2^n
    return x < V{} - 87 ? V{} : power;
  }
}

/// Returns 1 / (1 + e^-x); 0 below -88, where floats would be denormal.
template <class V>
V sigmoid(V x) {
  const V result = 1 / (1 + exponential(-x));
  if constexpr (std::is_same_v<Real, double>) return result;
  return x < V{} - 88 ? V{} : result;
}

/// Returns log(1 + e^x), relative error 3e-7: max(x, 0) + log(1 + e),   e = e^-|x|,
///   log(1 + e) = 2 atanh(t),   t = e / (2 + e) <= 1 / 3,   atanh(t) / t a polynomial in t^2
template <class V>
V softplus(V x) {
  const V positive = larger(x, V{}), e = exponential(fused(positive, Real(-2), x));
  if constexpr (std::is_same_v<Real, double>) {
    V rest;
    for (Index n = 0; n < kLanesOf<V>; ++n) rest[n] = std::log1p(e[n]);
    return positive + rest;
  } else {
    const V t = e / (2 + e), u = t * t;
    V series = fused(u, Real(0.14078889), Real(0.13982579));
    for (const Real next : {Real(0.20012298), Real(0.33333161), Real(1)}) series = fused(u, series, next);
    return fused(2 * t, series, positive);
  }
}

}  // namespace POSBENCH_ISA
}  // namespace posbench::inline POSBENCH_REAL
