// The reports and the costs that the program was built with: results/board, and the reference report.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "results/reports/cost_json.h"
#include "results/types/report.h"

namespace posbench {

struct KeptReport {
  std::string name;  // its path in the source tree
  Report report;
};

/// All reports of the board, read.
std::vector<KeptReport> board_reports();

/// What a training step costs with each encoding, by results/board/cost.json.
const MeasuredCosts& board_costs();

}  // namespace posbench
