// Defines the types of real numbers and of indices. Reals are floats in training, and doubles where gradients are
// checked. The code that computes with them is compiled for both. An inline namespace, which POSBENCH_REAL
// chooses, keeps the two apart in a program.
#pragma once
#include <cstddef>

#ifndef POSBENCH_REAL
#define POSBENCH_REAL float32
#endif

namespace posbench::real_types {
using float32 = float;
using float64 = double;
}  // namespace posbench::real_types

namespace posbench::inline POSBENCH_REAL {
using Real = real_types::POSBENCH_REAL;
using Index = std::ptrdiff_t;
}  // namespace posbench::inline POSBENCH_REAL
