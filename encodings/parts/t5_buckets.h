// T5's buckets of distance, which other encodings use too.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "model/tensor.h"

namespace posbench {

/// Each small distance has a bucket; those of larger distances grow logarithmically. Raffel et al. 2020, code.
///
///   causal         n = max(distance, 0), N = buckets
///   bidirectional  n = |distance|, N = buckets / 2, and keys after the query have the upper N buckets
///   bucket         n                                                             where n < E = N / 2
///                  min(N - 1, E + trunc(log(n / E) / log(max_distance / E) (N - E)))  elsewhere
struct T5Buckets {
  int buckets = 32, max_distance = 128;
  bool causal = true;

  /// Throws std::invalid_argument where there are too few buckets for this, or too small a largest distance.
  void check(const std::string& encoding) const {
    const int least = causal ? 2 : 4;
    if (buckets < least || (!causal && buckets % 2 != 0)) {
      throw std::invalid_argument(
          fmt::format("encoding '{}': buckets is {}; expected {}", encoding, buckets,
                      causal ? "at least 2" : "an even number, at least 4, where bidirectional"));
    }
    if (max_distance <= exact()) {
      throw std::invalid_argument(
          fmt::format("encoding '{}': max_distance is {}; expected more than {}, the distances "
                      "that have a bucket each",
                      encoding, max_distance, exact()));
    }
  }

  /// distance = query - key
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

}  // namespace posbench
