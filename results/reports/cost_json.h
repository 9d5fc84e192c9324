// What `posbench bench --json` measured, as costs of encodings.
#pragma once
#include <string>

#include "results/json/json.h"
#include "results/statistics/board.h"

namespace posbench {

struct MeasuredCosts {
  Costs costs;         // core time of a training step beside one of plain attention, by encoding
  std::string source;  // "posbench bench, size quick, length 64, on Intel Xeon, commit 1a2b3c"
};

/// The measurements of the first size and length in the file. Throws std::runtime_error, with the file and the JSON path.
MeasuredCosts read_costs(const Json&, const std::string& file);

}  // namespace posbench
