#include "harness/console/read_reports.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "harness/console/status_line.h"
#include "harness/runs/run_reader.h"

namespace posbench {

Report read_run_report(const std::filesystem::path& path) {
  const StatusLine status("reading " + path.string());
  return read_report_or_run(path);
}

std::vector<Report> read_run_reports(const std::vector<std::filesystem::path>& paths) {
  std::vector<Report> reports;
  for (const auto& path : paths) reports.push_back(read_run_report(path));
  return reports;
}

void check_finished(const Report& report, const std::filesystem::path& path) {
  if (!report.experiments.empty()) return;
  throw InputError(
      fmt::format("{}: no experiment is finished; 'posbench run --resume -o DIR' continues a run", path.string()));
}

std::vector<NamedReport> name_reports(const std::vector<std::filesystem::path>& paths,
                                      const std::vector<Report>& reports) {
  std::vector<NamedReport> runs;
  for (size_t n = 0; n < reports.size(); ++n) runs.push_back({paths[n].string(), reports[n]});
  return runs;
}

}  // namespace posbench
