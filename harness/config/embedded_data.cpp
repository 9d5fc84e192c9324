#include "harness/config/embedded_data.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "results/reports/report_json.h"

namespace posbench {

std::vector<StoredReport> board_reports() {
  std::vector<StoredReport> reports;
  for (const auto& [name, bytes] : board_bytes()) {
    if (name.find("cost.json") == name.npos) reports.push_back({name, parse_report(bytes, name)});
  }
  return reports;
}

const MeasuredCosts& board_costs() {
  static const MeasuredCosts costs = [] {
    const auto& [name, bytes] = board_bytes().back();
    return read_costs(parse_json(bytes, name), name);
  }();
  return costs;
}

}  // namespace posbench
