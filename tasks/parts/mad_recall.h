// Key-value pairs with repeated keys: the common part of the in-context recall tasks of MAD.
#pragma once
#include "tasks/parts/examples.h"

namespace posbench {

/// Ids: keys from 0, then values, then noise.
struct RecallIds {
  int keys, values, noise;
};

/// `pairs` pairs; each is two noise ids with probability `noise`, except a uniform one and the last. Keys are
/// uniform; the last one is uniform among the keys before it. The value of a key is drawn at its first occurrence
/// and kept. Values of keys seen before are scored. Distances: tokens from the key back to its value. Segments:
/// one for each pair.
Example recall(int pairs, const RecallIds&, double noise, Loss, Rng&);

}  // namespace posbench
