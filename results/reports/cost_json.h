// Reads the costs of encodings from the output of `posbench bench --json`.
#pragma once
#include <string>

#include "results/json/json.h"
#include "results/statistics/board.h"

namespace posbench {

struct MeasuredCosts {
  Costs costs;         // core time of a training step divided by that of plain attention, by encoding
  std::string source;  // "posbench bench, size quick, length 64, on Intel Xeon, commit 1a2b3c"
};

/// Reads the measurements of the first size and length in the file. Throws InputError with the file and the JSON
/// path.
MeasuredCosts read_costs(const Json&, const std::string& file);

}  // namespace posbench
