#include "harness/commands/read_reports.h"

#include "harness/commands/output.h"
#include "results/reports/report_json.h"

namespace posbench {

Report read_given(const std::filesystem::path& path) {
  return as_input([&] { return read_report(std::filesystem::is_directory(path) ? path / "report.json" : path); });
}

std::vector<Report> read_given(const std::vector<std::filesystem::path>& paths) {
  std::vector<Report> reports;
  for (const auto& path : paths) reports.push_back(read_given(path));
  return reports;
}

std::vector<NamedReport> named(const std::vector<std::filesystem::path>& paths,
                               const std::vector<Report>& reports) {
  std::vector<NamedReport> runs;
  for (size_t n = 0; n < reports.size(); ++n) runs.push_back({paths[n].string(), reports[n]});
  return runs;
}

}  // namespace posbench
