#include "encodings/parts/decorator.h"

#include "encodings/registry.h"

namespace posbench {

std::optional<Spec> wrapped(const Spec& spec) { return encodings().find(spec.name).wrapped(spec); }

bool is_defined(const Spec& spec, bool causal) {
  if (const std::optional<Spec> base = wrapped(spec); base && !is_defined(*base, causal)) return false;
  return causal || !encodings().find(spec.name).info.causal_only;
}

}  // namespace posbench
