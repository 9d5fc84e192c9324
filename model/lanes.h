// Vectors, for the few loops over entries in which a training step spends its time. GCC and Clang compile their
// arithmetic for the vectors of the processor. Sums along a row run over kLanes lanes on every processor, so that
// all of them give the same bytes.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "model/scalar.h"

#ifndef POSBENCH_ISA  // the instruction set that a file is compiled for; see model/kernels.h
#define POSBENCH_ISA baseline
#endif

namespace posbench {
inline namespace POSBENCH_ISA {  // so that no function compiled for one is linked instead of another's

constexpr Index kLanes = 32 / sizeof(Real);           // 8 floats or 4 doubles
using Lanes = Real __attribute__((vector_size(32)));  // operators work lane by lane
#ifdef __AVX512VL__
using Wide = Real __attribute__((vector_size(64)));
#else
using Wide = Lanes;
#endif
using IntLanes = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t> __attribute__((vector_size(32)));
constexpr Index kWide = sizeof(Wide) / sizeof(Real);  // the processor's widest vector, for work without sums

template <class V>
constexpr Index kLanesOf = sizeof(V) / sizeof(Real);

template <class V = Lanes>
V load(const Real* from) {
  V values;
  std::memcpy(&values, from, sizeof values);
  return values;
}
template <class V>
void store(V values, Real* to) {
  std::memcpy(to, &values, sizeof values);
}

#if defined(__AVX__) && !defined(__AVX512VL__)
/// All bits of the first `count` lanes.
inline __m256i first_lanes(Index count) {
  using Words = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t> __attribute__((vector_size(32)));
  Words index;
  for (int n = 0; n < kLanes; ++n) index[n] = n;
  return __m256i(Words{} + static_cast<decltype(+index[0])>(count) > index);
}
#endif

/// The first `count` lanes from memory, `rest` in the others.
template <class V = Lanes>
V load(const Real* from, Index count, Real rest) {
  if (count == kLanesOf<V>) return load<V>(from);
#if defined(__AVX512VL__)
  const auto mask = (1u << count) - 1;
  const V others = V{} + rest;
  if constexpr (sizeof(V) == 64 && sizeof(Real) == 4) return V(_mm512_mask_loadu_ps(__m512(others), mask, from));
  if constexpr (sizeof(V) == 64 && sizeof(Real) == 8) return V(_mm512_mask_loadu_pd(__m512d(others), mask, from));
  if constexpr (sizeof(V) == 32 && sizeof(Real) == 4) return V(_mm256_mask_loadu_ps(__m256(others), mask, from));
  if constexpr (sizeof(V) == 32 && sizeof(Real) == 8) return V(_mm256_mask_loadu_pd(__m256d(others), mask, from));
#elif defined(__AVX__)
  const __m256i mask = first_lanes(count);
  const V others = V{} + rest;
  if constexpr (sizeof(Real) == 4)
    return V(_mm256_blendv_ps(__m256(others), _mm256_maskload_ps(reinterpret_cast<const float*>(from), mask), __m256(mask)));
  else
    return V(_mm256_blendv_pd(__m256d(others), _mm256_maskload_pd(reinterpret_cast<const double*>(from), mask), __m256d(mask)));
#else
  V values = V{} + rest;
  for (Index n = 0; n < count; ++n) values[n] = from[n];
  return values;
#endif
}
template <class V>
void store(V values, Real* to, Index count) {
  if (count == kLanesOf<V>) return store(values, to);
#if defined(__AVX512VL__)
  const auto mask = (1u << count) - 1;
  if constexpr (sizeof(V) == 64 && sizeof(Real) == 4) _mm512_mask_storeu_ps(to, mask, __m512(values));
  if constexpr (sizeof(V) == 64 && sizeof(Real) == 8) _mm512_mask_storeu_pd(to, mask, __m512d(values));
  if constexpr (sizeof(V) == 32 && sizeof(Real) == 4) _mm256_mask_storeu_ps(to, mask, __m256(values));
  if constexpr (sizeof(V) == 32 && sizeof(Real) == 8) _mm256_mask_storeu_pd(to, mask, __m256d(values));
#else
  Real all[kLanes];
  store(values, all);
  Index done = 0;
#pragma GCC unroll 3
  for (Index n = kLanes / 2; n > 0; n /= 2) {  // by halves, quarters and eighths
    if ((count & n) == 0) continue;
    std::memcpy(to + done, all + done, static_cast<size_t>(n) * sizeof(Real));
    done += n;
  }
#endif
}

/// The square root, correctly rounded: Eigen's for floats starts from an approximation that differs between
/// processors.
inline Lanes square_root(Lanes x) {
#ifdef __AVX__
  if constexpr (sizeof(Real) == 4)
    return Lanes(_mm256_sqrt_ps(__m256(x)));
  else
    return Lanes(_mm256_sqrt_pd(__m256d(x)));
#else
  for (Index n = 0; n < kLanes; ++n) x[n] = std::sqrt(x[n]);
  return x;
#endif
}

/// x in all lanes.
template <class V = Lanes>
V broadcast(Real x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64 && sizeof(Real) == 4) return V(_mm512_set1_ps(static_cast<float>(x)));
#endif
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32 && sizeof(Real) == 4) return V(_mm256_set1_ps(static_cast<float>(x)));
#endif
  return x - V{};
}

/// a b + c, rounded once. Whether `a * b + c` is rounded once depends on the compiler and the code around it.
template <class V>
V fused(V a, V b, V c) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64 && sizeof(Real) == 4) return V(_mm512_fmadd_ps(__m512(a), __m512(b), __m512(c)));
#endif
#if defined(__FMA__)
  if constexpr (sizeof(V) == 32 && sizeof(Real) == 4) return V(_mm256_fmadd_ps(__m256(a), __m256(b), __m256(c)));
#elif defined(__aarch64__)
  if constexpr (sizeof(V) == 32 && sizeof(Real) == 4) {
    float32x4_t x[2], y[2], z[2];
    std::memcpy(x, &a, sizeof a);
    std::memcpy(y, &b, sizeof b);
    std::memcpy(z, &c, sizeof c);
    for (int n = 0; n < 2; ++n) z[n] = vfmaq_f32(z[n], x[n], y[n]);
    std::memcpy(&c, z, sizeof c);
    return c;
  }
#endif
  for (Index n = 0; n < kLanesOf<V>; ++n) c[n] = std::fma(a[n], b[n], c[n]);
  return c;
}
template <class V>
V fused(V a, Real b, V c) {
  return fused(a, broadcast<V>(b), c);
}
template <class V>
V fused(V a, Real b, Real c) {
  return fused(a, broadcast<V>(b), broadcast<V>(c));
}
template <class V>
V fused(V a, V b, Real c) {
  return fused(a, b, broadcast<V>(c));
}

/// 0, 1, 2, ...
inline Lanes lane_indices() {
  Lanes values;
  for (Index n = 0; n < kLanes; ++n) values[n] = static_cast<Real>(n);
  return values;
}

/// Whether all lanes are the same.
inline bool equal(Lanes a, Lanes b) {
  using Words = std::int64_t __attribute__((vector_size(32)));
  const auto same = reinterpret_cast<Words>(a == b);
  return (same[0] & same[1] & same[2] & same[3]) == -1;
}

/// The last lane first.
template <class L = Lanes>
L reversed(L values) {
  if constexpr (kLanes == 8)
    return __builtin_shufflevector(values, values, 7, 6, 5, 4, 3, 2, 1, 0);
  else
    return __builtin_shufflevector(values, values, 3, 2, 1, 0);
}

/// Lane k becomes what lane k + N was, or `rest` where there is none.
template <int N>
Lanes moved_down(Lanes v, Lanes rest = Lanes{}) {
  if constexpr (kLanes == 8)
    return __builtin_shufflevector(v, rest, N, 1 + N, 2 + N, 3 + N, 4 + N, 5 + N, 6 + N, 7 + N);
  else
    return __builtin_shufflevector(v, rest, N, 1 + N, 2 + N, 3 + N);
}
/// Lane k becomes what lane k - N was, or `rest` where there is none.
template <int N>
Lanes moved_up(Lanes v, Lanes rest = Lanes{}) {
  if constexpr (kLanes == 8)
    return __builtin_shufflevector(rest, v, 8 - N, 9 - N, 10 - N, 11 - N, 12 - N, 13 - N, 14 - N, 15 - N);
  else
    return __builtin_shufflevector(rest, v, 4 - N, 5 - N, 6 - N, 7 - N);
}

/// The sum of each lane and all after it.
inline Lanes suffix_sums(Lanes v) {
  v += moved_down<1>(v);
  v += moved_down<2>(v);
  if constexpr (kLanes == 8) v += moved_down<4>(v);
  return v;
}
/// The sum of each lane and all before it.
inline Lanes prefix_sums(Lanes v) {
  v += moved_up<1>(v);
  v += moved_up<2>(v);
  if constexpr (kLanes == 8) v += moved_up<4>(v);
  return v;
}
inline Lanes prefix_products(Lanes v) {
  const Lanes one = Lanes{} + 1;
  v *= moved_up<1>(v, one);
  v *= moved_up<2>(v, one);
  if constexpr (kLanes == 8) v *= moved_up<4>(v, one);
  return v;
}

/// Rounded toward zero.
inline IntLanes truncated(Lanes v) { return __builtin_convertvector(v, IntLanes); }

/// from[index] for each lane; 0 <= index < 2 kLanes. All 2 kLanes entries are read.
inline Lanes gather(const Real* from, IntLanes index) {
#ifdef __AVX2__
  if constexpr (sizeof(Real) == 4) {
    const __m256i n = __m256i(index);
    const __m256 low = _mm256_permutevar8x32_ps(__m256(load(from)), n);
    const __m256 high = _mm256_permutevar8x32_ps(__m256(load(from + kLanes)), n);
    return Lanes(_mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(n, 28))));  // by the bit of 8
  }
#endif
  Lanes values;
  for (Index n = 0; n < kLanes; ++n) values[n] = from[index[n] & (2 * kLanes - 1)];
  return values;
}

/// Transposes a square of lanes: afterwards lane k of row j is what lane j of row k was.
template <class L>
[[gnu::always_inline]] inline void transpose(L (&row)[kLanes]) {
  if constexpr (kLanes == 8) {
    L pair[8], four[8];
#pragma GCC unroll 4
    for (int j = 0; j < 8; j += 2) {
      pair[j] = __builtin_shufflevector(row[j], row[j + 1], 0, 8, 1, 9, 4, 12, 5, 13);
      pair[j + 1] = __builtin_shufflevector(row[j], row[j + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const int above = j / 2 * 4 + j % 2, below = above + 2, to = j / 2 * 4 + j % 2 * 2;
      four[to] = __builtin_shufflevector(pair[above], pair[below], 0, 1, 8, 9, 4, 5, 12, 13);
      four[to + 1] = __builtin_shufflevector(pair[above], pair[below], 2, 3, 10, 11, 6, 7, 14, 15);
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      row[k] = __builtin_shufflevector(four[k], four[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
      row[k + 4] = __builtin_shufflevector(four[k], four[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
  } else {
    for (Index j = 0; j < kLanes; ++j) {
      for (Index k = 0; k < j; ++k) {
        const Real value = row[j][k];
        row[j][k] = row[k][j];
        row[k][j] = value;
      }
    }
  }
}

/// f(first, count) for each vector of `size` reals; `count` is its number of lanes, smaller only in the last.
template <class V, class F>
void for_each(Index size, F f) {
  constexpr Index kStep = kLanesOf<V>;
  Index first = 0;
  for (; first + kStep <= size; first += kStep) f(first, std::integral_constant<Index, kStep>{});
  if (first < size) f(first, size - first);
}
template <class F>
void for_each_lanes(Index size, F f) {
  for_each<Lanes>(size, f);
}

/// f over all lanes, by halves.
template <class F, class L = Lanes>
Real across(L values, F f) {
  if constexpr (kLanes == 8) {
    values = f(values, __builtin_shufflevector(values, values, 4, 5, 6, 7, 0, 1, 2, 3));
    values = f(values, __builtin_shufflevector(values, values, 2, 3, 0, 1, 6, 7, 4, 5));
    return f(values, __builtin_shufflevector(values, values, 1, 0, 3, 2, 5, 4, 7, 6))[0];
  } else {
    values = f(values, __builtin_shufflevector(values, values, 2, 3, 0, 1));
    return f(values, __builtin_shufflevector(values, values, 1, 0, 3, 2))[0];
  }
}
/// a > b ? a : b, which GCC does not find in one instruction.
template <class V>
V larger(V a, V b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64 && sizeof(Real) == 4) return V(_mm512_maskz_max_ps(0xffff, __m512(a), __m512(b)));
#endif
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32 && sizeof(Real) == 4) return V(_mm256_max_ps(__m256(a), __m256(b)));
#endif
  return a > b ? a : b;
}
/// |v|
inline Lanes magnitude(Lanes v) {
  const IntLanes sign = IntLanes(-Lanes{});
  return Lanes(IntLanes(v) & ~sign);
}
inline Real sum(Lanes values) {
  return across(values, [](Lanes a, Lanes b) { return a + b; });
}

/// f(f(total, the first kLanes of the values), those after them)
template <class V, class F>
Lanes in_turn(Lanes total, V values, F f) {
  if constexpr (sizeof(V) == sizeof(Lanes)) {
    return f(total, values);
  } else {
    Lanes halves[2];
    std::memcpy(halves, &values, sizeof values);
    return f(f(total, halves[0]), halves[1]);
  }
}
/// Adds a vector of any width to a total of kLanes lanes.
template <class V>
Lanes add(Lanes total, V values) {
  return in_turn(total, values, [](Lanes a, Lanes b) { return a + b; });
}
template <class V>
Real largest(V values) {
  return across(in_turn(Lanes{} - INFINITY, values, larger<Lanes>), larger<Lanes>);
}

/// The bits of each lane of a vector of floats.
using NarrowBits = std::uint32_t __attribute__((vector_size(32)));
using WideBits = std::uint32_t __attribute__((vector_size(64)));
template <class V>
using BitsOf = std::conditional_t<sizeof(V) == 64, WideBits, NarrowBits>;

/// e^x with a relative error of 2e-7; 0 below -87, the range of floats, and e^88 above 88. NaN stays NaN.
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

/// 1 / (1 + e^-x)
template <class V>
V sigmoid(V x) {
  return 1 / (1 + exponential(-x));
}

/// log(1 + e^x), relative error 3e-7: max(x, 0) + log(1 + e),   e = e^-|x|,
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
}  // namespace posbench
