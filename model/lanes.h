// The vectors of the machine, for the few loops over entries that a training step spends its time in. GCC and
// Clang compile their arithmetic for whatever the processor has.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#ifdef __AVX__
#include <immintrin.h>
#endif

#include "model/tensor.h"

namespace posbench {

constexpr Index kLanes = 32 / sizeof(Real);           // 8 floats or 4 doubles
using Lanes = Real __attribute__((vector_size(32)));  // operators work lane by lane

inline Lanes load(const Real* from) {
  Lanes values;
  std::memcpy(&values, from, sizeof values);
  return values;
}
inline void store(Lanes values, Real* to) { std::memcpy(to, &values, sizeof values); }

/// All bits of the first `count` lanes.
inline auto first_lanes(Index count) {
  using Words = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t> __attribute__((vector_size(32)));
  Words places;
  for (int n = 0; n < kLanes; ++n) places[n] = n;
  return Words{} + static_cast<decltype(+places[0])>(count) > places;
}

/// The first `count` lanes from memory, `rest` in the others.
inline Lanes load(const Real* from, Index count, Real rest) {
  if (count == kLanes) return load(from);
  const auto mask = first_lanes(count);
#ifdef __AVX__
  Lanes values;
  if constexpr (sizeof(Real) == 4)
    values = Lanes(_mm256_maskload_ps(reinterpret_cast<const float*>(from), __m256i(mask)));
  else
    values = Lanes(_mm256_maskload_pd(reinterpret_cast<const double*>(from), __m256i(mask)));
  return mask ? values : Lanes{} + rest;
#else
  Lanes values{};
  for (Index n = 0; n < count; ++n) values[n] = from[n];
  return mask ? values : Lanes{} + rest;
#endif
}
inline void store(Lanes values, Real* to, Index count) {
  if (count == kLanes) return store(values, to);
  Real all[kLanes];
  store(values, all);
  Index done = 0;
#pragma GCC unroll 3
  for (Index n = kLanes / 2; n > 0; n /= 2) {  // by halves, quarters and eighths
    if ((count & n) == 0) continue;
    std::memcpy(to + done, all + done, static_cast<size_t>(n) * sizeof(Real));
    done += n;
  }
}

/// 0, 1, 2, ...
inline Lanes places() {
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

/// The square whose rows these are, turned over: afterwards lane k of row j is what lane j of row k was.
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

/// f(first, count) for each vector of `size` reals, `count` lanes of it: all but in the last.
template <class F>
void for_each_lanes(Index size, F f) {
  Index first = 0;
  for (; first + kLanes <= size; first += kLanes) f(first, std::integral_constant<Index, kLanes>{});
  if (first < size) f(first, size - first);
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
inline Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }
inline Real largest(Lanes values) { return across(values, larger); }
inline Real sum(Lanes values) {
  return across(values, [](Lanes a, Lanes b) { return a + b; });
}

/// e^x to 2e-7 of itself; 0 below -87, where floats end, and e^88 above 88. NaN stays NaN.
///   e^x = 2^n e^r,   n the nearest integer to x / log 2, |r| <= log 2 / 2,
///   e^r = 1 + r + r^2 (a polynomial whose largest relative error there is least)
inline Lanes exponential(Lanes x) {
  if constexpr (std::is_same_v<Real, double>) {
    for (Index n = 0; n < kLanes; ++n) x[n] = std::exp(x[n]);
    return x;
  } else {
    using Bits = std::uint32_t __attribute__((vector_size(32)));
    constexpr Real kRounder = 3 << 22;  // 1.5 * 2^23: added to n + a fraction, its last bits read n
#ifdef __AVX__
    const Lanes bounded = Lanes(_mm256_min_ps(_mm256_set1_ps(88), __m256(x)));  // which GCC does not find
#else
    const Lanes bounded = x > Lanes{} + 88 ? Lanes{} + 88 : x;
#endif
    const Lanes rounded = bounded * Real(1.44269504) + kRounder, n = rounded - kRounder;
    const Lanes r = (bounded - n * Real(0.693145752)) - n * Real(1.42860677e-6);  // log 2, in two pieces
    const Lanes series =
        1 +
        r * (1 + r * (Real(0.49999231) + r * (Real(0.16667115) + r * (Real(0.04189016) + r * Real(0.00831252)))));
    const Lanes power = reinterpret_cast<Lanes>(reinterpret_cast<Bits>(series) +
                                                (reinterpret_cast<Bits>(rounded) << 23));  // times 2^n
    return x < Lanes{} - 87 ? Lanes{} : power;
  }
}

/// 1 / (1 + e^-x)
inline Lanes sigmoid(Lanes x) { return 1 / (1 + exponential(-x)); }

/// log(1 + e^x) to 3e-7 of itself: max(x, 0) + log(1 + e),   e = e^-|x|,
///   log(1 + e) = 2 atanh(t),   t = e / (2 + e) <= 1 / 3,   atanh(t) / t a polynomial in t^2
inline Lanes softplus(Lanes x) {
  const Lanes positive = x > Lanes{} ? x : Lanes{}, e = exponential(x - 2 * positive);
  if constexpr (std::is_same_v<Real, double>) {
    Lanes rest;
    for (Index n = 0; n < kLanes; ++n) rest[n] = std::log1p(e[n]);
    return positive + rest;
  } else {
    const Lanes t = e / (2 + e), u = t * t;
    const Lanes series =
        1 + u * (Real(0.33333161) + u * (Real(0.20012298) + u * (Real(0.13982579) + u * Real(0.14078889))));
    return positive + 2 * t * series;
  }
}

}  // namespace posbench
