// Defines vectors, for the loops over entries in which a training step spends its time. GCC and Clang compile
// their arithmetic for the vectors of the processor. Sums along a row run over kLanes lanes on every processor, so
// that all processors give the same bytes.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "base/real.h"

#ifndef POSBENCH_ISA  // the instruction set that a file is compiled for; see model/kernels.h
#define POSBENCH_ISA baseline
#endif

namespace posbench::inline POSBENCH_REAL {
inline namespace POSBENCH_ISA {  // so that no function compiled for one is linked instead of another's

constexpr Index kLanes = 32 / sizeof(Real);           // 8 floats or 4 doubles
using Lanes = Real __attribute__((vector_size(32)));  // operators work lane by lane
#ifdef __AVX512VL__
using Wide = Real __attribute__((vector_size(64)));
#else
using Wide = Lanes;
#endif
using IntLanes =
    std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t> __attribute__((vector_size(32)));
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
/// Returns a mask with all bits of the first `count` lanes.
inline __m256i first_lanes(Index count) {
  using Words = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t> __attribute__((vector_size(32)));
  Words index;
  for (int n = 0; n < kLanes; ++n) index[n] = n;
  return __m256i(Words{} + static_cast<decltype(+index[0])>(count) > index);
}
#endif

/// Loads the first `count` lanes from memory and sets the others to `rest`.
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
    return V(_mm256_blendv_ps(__m256(others), _mm256_maskload_ps(reinterpret_cast<const float*>(from), mask),
                              __m256(mask)));
  else
    return V(_mm256_blendv_pd(__m256d(others), _mm256_maskload_pd(reinterpret_cast<const double*>(from), mask),
                              __m256d(mask)));
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

/// Returns the correctly rounded square root. Eigen's sqrt() starts from an approximation that differs between
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

/// Returns x in all lanes.
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

/// Returns a b + c, rounded once. The rounding of `a * b + c` would depend on the compiler and the code around it.
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

/// Returns 0, 1, 2, ...
inline Lanes lane_indices() {
  Lanes values;
  for (Index n = 0; n < kLanes; ++n) values[n] = static_cast<Real>(n);
  return values;
}

/// Returns the lanes in reverse order.
template <class L = Lanes>
L reversed(L values) {
  if constexpr (kLanes == 8)
    return __builtin_shufflevector(values, values, 7, 6, 5, 4, 3, 2, 1, 0);
  else
    return __builtin_shufflevector(values, values, 3, 2, 1, 0);
}

/// Returns lane k + N of v in lane k, and `rest` in the last N lanes.
template <int N, class L = Lanes>
L moved_down(L v, L rest = L{}) {
  if constexpr (kLanes == 8)
    return __builtin_shufflevector(v, rest, N, 1 + N, 2 + N, 3 + N, 4 + N, 5 + N, 6 + N, 7 + N);
  else
    return __builtin_shufflevector(v, rest, N, 1 + N, 2 + N, 3 + N);
}
/// Returns lane k - N of v in lane k, and `rest` in the first N lanes.
template <int N, class L = Lanes>
L moved_up(L v, L rest = L{}) {
  if constexpr (kLanes == 8)
    return __builtin_shufflevector(rest, v, 8 - N, 9 - N, 10 - N, 11 - N, 12 - N, 13 - N, 14 - N, 15 - N);
  else
    return __builtin_shufflevector(rest, v, 4 - N, 5 - N, 6 - N, 7 - N);
}

/// Returns the sum of each lane and all after it.
inline Lanes suffix_sums(Lanes v) {
  v += moved_down<1>(v);
  v += moved_down<2>(v);
  if constexpr (kLanes == 8) v += moved_down<4>(v);
  return v;
}
/// Returns the sum of each lane and all before it.
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

/// Returns the lanes rounded toward zero.
inline IntLanes truncated(Lanes v) { return __builtin_convertvector(v, IntLanes); }

/// Returns from[index] for each lane; 0 <= index < 2 kLanes. Reads all 2 kLanes entries.
[[gnu::always_inline]] inline Lanes gather(const Real* from, IntLanes index) {
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

/// Transposes a square of lanes: lane k of row j becomes lane j of row k.
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

/// Calls f(first, count) for each vector of `size` reals; `count` is its number of lanes, smaller only in the
/// last.
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

/// Reduces all lanes with f, by halves.
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
/// Returns a > b ? a : b, for which GCC does not find the single instruction.
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
/// Returns |v|.
inline Lanes magnitude(Lanes v) {
  const IntLanes sign = IntLanes(-Lanes{});
  return Lanes(IntLanes(v) & ~sign);
}
inline Real sum(Lanes values) {
  return across(values, [](Lanes a, Lanes b) { return a + b; });
}

/// Returns f(f(total, the first kLanes values), the others).
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
/// Returns the sum of a total of kLanes lanes and a vector of any width.
template <class V>
Lanes add(Lanes total, V values) {
  return in_turn(total, values, [](Lanes a, Lanes b) { return a + b; });
}
template <class V>
Real largest(V values) {
  return across(in_turn(Lanes{} - INFINITY, values, larger<Lanes>), larger<Lanes>);
}

}  // namespace POSBENCH_ISA
}  // namespace posbench::inline POSBENCH_REAL
