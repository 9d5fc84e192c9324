// ALiBi's slopes, which other encodings also use.
#pragma once
#include <cmath>
#include <vector>

#include "base/real.h"

namespace posbench::inline POSBENCH_REAL {

/// Returns m_h = 2^(-8 (h + 1) / H) for a power of two H; otherwise the slopes of the power of two below H,
/// then every other slope of twice that power.
inline std::vector<double> alibi_slopes(int heads) {
  const auto geometric = [](int count, int h) { return std::exp2(-8.0 * (h + 1) / count); };
  int power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> slopes;
  for (int h = 0; h < power; ++h) slopes.push_back(geometric(power, h));
  for (int h = 0; power + h < heads; ++h) slopes.push_back(geometric(2 * power, 2 * h));
  return slopes;
}

}  // namespace posbench::inline POSBENCH_REAL
