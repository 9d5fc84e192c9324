// States what an encoding needs from a program that runs it with a cache of keys.
#pragma once
#include "base/enum_names.h"
#include "base/spec.h"
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// States if a token of a causal model stays the same while later tokens follow, so that its key can be cached.
enum class Cacheable {
  yes,
  rewritten,  // its position or angles may change, so that exact inference computes all cached keys again
  no          // its position is drawn when the whole sequence is known, or its scores depend on a next token
};
const EnumNames<Cacheable>& names_of(Cacheable);  // "yes", "keys are rewritten", "no"

/// Compares the positions and the logits of a sequence with those of its tokens but the last, in a causal model
/// with random parameters.
Cacheable cacheable(const Spec&, const ModelConfig&, Sequence);

/// Returns this for an encoding with these options in a small model.
Cacheable cacheable(const Spec&);

}  // namespace posbench::inline POSBENCH_REAL
