// Compares a hand-written gradient with finite differences.
#pragma once
#include <functional>
#include <string>

#include "base/random.h"
#include "harness/check/certify.h"
#include "model/tensor.h"

namespace posbench::inline POSBENCH_REAL {

/// Moves `values` along a random direction v, compares the slope of f with the gradient g and updates `worst` by
/// |slope - g . v| / (|g| |v|).
void check_along(const std::string& where, Rng&, Out values, const In& gradient, const std::function<double()>& f,
                 Worst& worst);

}  // namespace posbench::inline POSBENCH_REAL
