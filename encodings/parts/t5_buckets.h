// Provides T5's buckets of distance.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "model/tensor.h"

namespace posbench::inline POSBENCH_REAL {

/// Maps distances to buckets as the code of Raffel et al. 2020 does. Each small distance has its own bucket, and
/// the buckets of larger distances grow logarithmically.
///
///   causal         n = max(distance, 0), N = buckets
///   bidirectional  n = |distance|, N = buckets / 2, and keys after the query have the upper N buckets
///   bucket         n if n < E = N / 2, else min(N - 1, E + trunc(log(n / E) / log(max_distance / E) (N - E)))
struct T5Buckets {
  int buckets = 32, max_distance = 128;
  bool causal = true;

  /// Throws InputError, in the name of the encoding, if the number of buckets or max_distance is too small.
  void check(const std::string& encoding) const {
    const int least = causal ? 2 : 4;
    if (buckets < least || (!causal && buckets % 2 != 0)) {
      throw InputError(
          fmt::format("encoding '{}': buckets is {}; expected {}", encoding, buckets,
                      causal ? "at least 2" : "an even number of at least 4 for a bidirectional model"));
    }
    if (max_distance <= exact()) {
      throw InputError(fmt::format(
          "encoding '{}': max_distance is {}; expected more than {}, the distances that have a bucket each",
          encoding, max_distance, exact()));
    }
  }

  /// Returns the bucket of a distance, which is query minus key.
  Index of(double distance) const {
    const Index side = !causal && distance < 0 ? count() : 0;
    const double n = causal ? std::max(distance, 0.0) : std::abs(distance);
    if (n < exact()) return side + static_cast<Index>(n);
    const double octaves = std::log(n / exact()) / std::log(static_cast<double>(max_distance) / exact());
    return side + std::min<Index>(count() - 1, exact() + static_cast<Index>(octaves * (count() - exact())));
  }

 private:
  int count() const { return causal ? buckets : buckets / 2; }  // N
  int exact() const { return count() / 2; }                     // E
};

}  // namespace posbench::inline POSBENCH_REAL
