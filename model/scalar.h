// Defines the types of numbers and of indices.
#pragma once
#include <cstddef>

namespace posbench {

using Real = POSBENCH_REAL;  // float in training, double where gradients are checked
using Index = std::ptrdiff_t;

}  // namespace posbench
