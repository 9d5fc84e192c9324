// Key-value pairs of which keys come again: what the in-context recall tasks of MAD share.
#pragma once
#include "tasks/parts/examples.h"

namespace posbench {

/// Ids: keys from 0, then values, then noise.
struct RecallIds {
  int keys, values, noise;
};

/// `pairs` pairs; each is two noise ids with probability `noise`, but for a uniform one and the last. A key is
/// uniform, but for the last, which is uniform among the keys before it; its value is drawn when it first stands
/// and kept. Values of keys seen before are scored. Distances: tokens from the key back to its value. Segments: a
/// pair each.
Example recall(int pairs, const RecallIds&, double noise, Loss, Rng&);

}  // namespace posbench
