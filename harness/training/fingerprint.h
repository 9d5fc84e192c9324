// Identifies samples by a hash.
#pragma once
#include <cstdint>
#include <vector>

#include "tasks/task.h"

namespace posbench {

/// Returns a hash of question and answers. Collisions are very unlikely. It is the same on every machine.
inline std::uint64_t fingerprint(const Example& e) {
  std::uint64_t hash = 0;
  for (const std::vector<int>* list : {&e.tokens, &e.targets}) {
    for (const int id : *list)
      hash = (hash ^ static_cast<std::uint64_t>(id + 2)) * 0x9E3779B97F4A7C15u + (hash >> 29);
  }
  return hash;
}

}  // namespace posbench
