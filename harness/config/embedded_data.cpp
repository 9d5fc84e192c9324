#include "harness/config/embedded_data.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/reports/report_json.h"

namespace posbench {

Json stored_result(const std::string& size, const std::string& name) {
  Json json = parse_json(verdict_texts().at(size), size + " verdicts");
  for (Json& claim : json.at("claims")) {
    if (claim.at("name") != name) continue;
    for (Json& rule : claim.at("rules")) {
      for (const char* cell : {"high", "low", "cell"}) {
        if (!rule.contains(cell)) continue;
        const std::string key = rule[cell].at("evidence").get<std::string>();
        if (json.at("evidence").contains(key)) rule[cell]["evidence"] = json["evidence"][key];
      }
    }
    return claim;
  }
  return nullptr;
}

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
