#include "harness/console/summary.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "harness/console/message.h"
#include "harness/console/output.h"
#include "harness/runs/run_record.h"
#include "results/presentation/report_document.h"

namespace posbench {

int print_accuracies(const SummarizedReport& shown, bool is_quiet) {
  if (!is_quiet) write_document({}, make_accuracy_document(shown));
  const auto is_finished = [](const ExperimentResult& one) { return one.status == Status::ok; };
  return std::ranges::all_of(shown.report.experiments, is_finished) ? 0 : 1;
}

int print_summary(const SummarizedReport& report, const std::filesystem::path& directory) {
  const int code = print_accuracies(report, is_quiet());
  if (!is_quiet())
    print_text("\nreport: {}\npage: {}\n", (directory / kReportFile).string(), (directory / kPageFile).string());
  return code;
}

}  // namespace posbench
