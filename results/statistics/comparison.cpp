#include "results/statistics/comparison.h"

#include <cstddef>
#include <string>

namespace posbench {

std::string to_string(Verdict verdict) {
  constexpr const char* kNames[] = {"better", "worse", "same", "not learned", "too few seeds", "inconclusive"};
  return kNames[static_cast<size_t>(verdict)];
}

}  // namespace posbench
