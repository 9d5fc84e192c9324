// The vectors of the machine, for the few loops over entries that a training step spends its time in. GCC and
// Clang compile their arithmetic for whatever the processor has.
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "model/tensor.h"

namespace posbench {

constexpr Index kLanes = 32 / sizeof(Real);           // 8 floats or 4 doubles
using Lanes = Real __attribute__((vector_size(32)));  // operators work lane by lane
using UnalignedLanes = Real __attribute__((vector_size(32), aligned(alignof(Real)), may_alias));

inline Lanes load(const Real* from) { return *reinterpret_cast<const UnalignedLanes*>(from); }
inline void store(Lanes values, Real* to) { *reinterpret_cast<UnalignedLanes*>(to) = values; }

/// The first `count` lanes from memory, `rest` in the others.
inline Lanes load(const Real* from, Index count, Real rest) {
  if (count == kLanes) return load(from);
  Lanes values;
  for (Index n = 0; n < kLanes; ++n) values[n] = n < count ? from[n] : rest;
  return values;
}
inline void store(Lanes values, Real* to, Index count) {
  if (count == kLanes) return store(values, to);
  for (Index n = 0; n < count; ++n) to[n] = values[n];
}

/// 0, 1, 2, ...
inline Lanes places() {
  Lanes values;
  for (Index n = 0; n < kLanes; ++n) values[n] = static_cast<Real>(n);
  return values;
}

/// The first `count` lanes as they are, `rest` in the others.
inline Lanes keep(Lanes values, Index count, Real rest) {
  if (count == kLanes) return values;
  return places() < Lanes{} + static_cast<Real>(count) ? values : Lanes{} + rest;
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
    const Lanes most = Lanes{} + 88, bounded = x > most ? most : x;
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

}  // namespace posbench
