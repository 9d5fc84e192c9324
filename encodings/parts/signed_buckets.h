// Maps signed distances to rows of a table, as DeBERTa does, and finds the rows that pairs of tokens read.
#pragma once
#include "encodings/parts/relative_rows.h"
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// Maps a distance n to row clamp(n + size, 0, 2 size - 1). If max_distance is positive, distances beyond
/// size / 2 first become logarithmic buckets, which grow up to max_distance. If `clip` is true, distances are
/// clipped to max_distance - 1 before.
struct SignedBuckets {
  int size;
  int max_distance = 0;
  bool clip = true;

  Index row(double distance) const;
};

/// The rows of the table that the pairs of a sequence read.
struct BucketRows {
  Index first_row = 0, num_rows = 0;
  PairRows pairs;     // the row of distance(i, j), counted from first_row
  PairRows opposite;  // the row of -distance(i, j), counted from first_row; or empty
};

/// Finds the rows for all pairs of a query and a key that it sees. Fills `opposite` if with_opposite is true.
void find_bucket_rows(const SignedBuckets&, const Positions&, bool causal, bool with_opposite, BucketRows&);

}  // namespace posbench::inline POSBENCH_REAL
