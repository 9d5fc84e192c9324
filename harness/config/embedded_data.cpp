#include "harness/config/embedded_data.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parallel_for.h"
#include "results/reports/report_json.h"

namespace posbench {

std::vector<StoredReport> board_reports(const std::vector<std::string>& encodings) {
  std::vector<std::pair<std::string, std::string_view>> files(board_bytes());
  files.pop_back();  // it has the costs
  const auto is_other = [&](const auto& file) {
    const std::string name = std::filesystem::path(file.first).filename().string();
    const std::string encoding = name.substr(0, name.find_first_of("-."));  // "rope" of "rope-tasks2.json.gz"
    return name != "report.json" && std::ranges::find(encodings, encoding) == encodings.end();
  };
  if (!encodings.empty()) std::erase_if(files, is_other);
  std::vector<StoredReport> reports(files.size());
  parallel_for(reports.size(), count_cores(), [&](size_t n) {
    const auto& [name, bytes] = files[n];
    reports[n] = {name, parse_report(bytes, name)};
  });
  return reports;
}

const MeasuredCosts& board_costs() {
  static const MeasuredCosts costs = [] {
    const auto& [name, bytes] = board_bytes().back();
    return read_costs(parse_json(bytes, name), name);
  }();
  return costs;
}

const std::vector<Term>& glossary() {
  static const std::vector<Term> terms = [] {
    const std::string name = "glossary.json";
    const Json json = parse_json(glossary_text(), name);
    return read_list<Term>(Field(json, name), [](const Field& term) {
      const auto texts = [&](const char* key) {
        return read_list<std::string>(term[key], [](const Field& text) { return text.text(); });
      };
      return Term{term["name"].text(), texts("aliases"), term["meaning"].text(), texts("commands")};
    });
  }();
  return terms;
}

}  // namespace posbench
