#include "harness/commands/read_reports.h"

#include "harness/commands/waiting.h"
#include "harness/runs/run_reader.h"

namespace posbench {

Report read_given(const std::filesystem::path& path) {
  const Waiting waiting("reading " + path.string());
  return RunReader(path).read();
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
