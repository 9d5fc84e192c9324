// Defines which keys a query sees in a model with a window, segments, chunks and sinks.
#pragma once
#include "base/real.h"
#include "model/model_config.h"

namespace posbench::inline POSBENCH_REAL {

struct KeyRange {
  Index first, end;
};

/// Returns the keys that query i sees, in addition to sinks: those of its window, of its chunk, and of its segment
/// and the one before. The segment before is the memory of Transformer-XL (Dai et al. 2019, arXiv:1901.02860).
KeyRange window_keys(const ModelConfig&, Index i, Index length);

/// Returns the number of keys that the window, segments, chunk and sinks leave to query i.
Index num_keys_in_window(const ModelConfig&, Index i, Index length);

}  // namespace posbench::inline POSBENCH_REAL
