// Compares a hand-written gradient with finite differences.
#pragma once
#include <functional>
#include <string>

#include "base/random.h"
#include "model/tensor.h"

namespace posbench {

/// The largest disagreement, and its parameter or argument: "blocks.0.norm1.weight", "score: q".
struct Worst {
  double error = 0;
  std::string where;
};

/// Moves `values` along a random direction v, compares the slope of f with the gradient g and updates `worst` by
/// |slope - g . v| / (|g| |v|).
void check_along(const std::string& where, Rng&, Out values, const In& gradient, const std::function<double()>& f,
                 Worst& worst);

}  // namespace posbench
