// Reads a test sequence token by token with a cache of keys and values, as programs do that serve models.
#pragma once
#include "base/enum_names.h"
#include "base/spec.h"
#include "harness/training/make_model.h"

namespace posbench {

enum class CacheMode {
  off,        // the whole sequence at once
  rewritten,  // a token sees all keys as if the positions of the tokens in the cache had always been these
  stale       // a key keeps the position and the frequencies that it had when it was written
};
const EnumNames<CacheMode>& names_of(CacheMode);

struct CacheOptions {
  CacheMode mode = CacheMode::off;
  int size = 0;   // the most tokens of the cache; 0: all
  int shift = 0;  // the oldest tokens that leave a full cache; the others get the positions from 0 on

  bool drops() const { return size > 0; }
};

/// Returns the logits (A, V) of the target positions, which are ascending. The other arguments are those of
/// Transformer::forward for the whole sequence; the step has the packed weights.
Matrix decode(const Model&, const Parameters&, const Sequence&, const CacheOptions&, StepCache&,
              SequenceWorkspace&);

/// Throws InputError if the options do not fit each other or the model.
void check_cache(const CacheOptions&, const ModelConfig&);
/// Throws InputError if the encoding has no such cache. `sample` is a sequence of the task.
void check_cache(const CacheOptions&, const ModelConfig&, const Spec& encoding, const Sequence& sample);

}  // namespace posbench
