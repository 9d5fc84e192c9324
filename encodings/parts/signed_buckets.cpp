#include "encodings/parts/signed_buckets.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "encodings/parts/distances.h"
#include "model/attention.h"

namespace posbench::inline POSBENCH_REAL {

Index SignedBuckets::row(double distance) const {
  const double middle = std::floor(size / 2.0), farthest = max_distance - 1;
  double bucket = std::round(distance);
  if (max_distance > 0 && std::abs(bucket) > middle) {
    const double far = clip ? std::min(std::abs(bucket), farthest) : std::abs(bucket);
    bucket = std::copysign(std::ceil(std::log(far / middle) / std::log(farthest / middle) * (middle - 1)) + middle,
                           bucket);
  }
  return static_cast<Index>(std::clamp(bucket + size, 0.0, 2.0 * size - 1));
}

void find_bucket_rows(const SignedBuckets& buckets, const Positions& positions, bool causal, bool with_opposite,
                      BucketRows& rows) {
  IndexMatrix &index = rows.pairs.index, &opposite_index = rows.opposite.index;
  Matrix distances;  // ascending
  distinct_distances(positions, causal, distances, index);

  double nearest = distances(0, 0), farthest = distances(0, distances.cols() - 1);
  if (with_opposite) {
    farthest = std::max(farthest, -nearest);
    nearest = std::min(nearest, -farthest);
  }
  rows.first_row = buckets.row(nearest);
  rows.num_rows = buckets.row(farthest) - rows.first_row + 1;

  std::vector<std::int32_t> row_of_distance, row_of_opposite;
  for (Index n = 0; n < distances.cols(); ++n) {
    row_of_distance.push_back(static_cast<std::int32_t>(buckets.row(distances(0, n)) - rows.first_row));
    row_of_opposite.push_back(static_cast<std::int32_t>(buckets.row(-distances(0, n)) - rows.first_row));
  }
  opposite_index.setZero(with_opposite ? index.rows() : 0, with_opposite ? index.cols() : 0);
  for (Index i = 0; i < index.rows(); ++i) {
    for (Index j = 0; j < num_visible_keys(i, index.cols(), causal); ++j) {
      const size_t n = static_cast<size_t>(index(i, j));
      index(i, j) = row_of_distance[n];
      if (with_opposite) opposite_index(i, j) = row_of_opposite[n];
    }
  }
  classify_tiles(rows.pairs);
  classify_tiles(rows.opposite);
}

}  // namespace posbench::inline POSBENCH_REAL
