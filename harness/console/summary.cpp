#include "harness/console/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "harness/console/output.h"
#include "harness/console/terminal.h"
#include "harness/runs/run_record.h"
#include "results/document/render.h"
#include "results/presentation/report_document.h"

namespace posbench {

void print_table(const Table& table, bool color) {
  fmt::print("{}\n", to_console_text(table, {console_width(), color}));
}

int print_accuracies(const SummarizedReport& shown, bool color) {
  fmt::print("{}", to_console_text(make_accuracy_document(shown), {console_width(), color}));
  const auto is_finished = [](const ExperimentResult& one) { return one.status == Status::ok; };
  return std::ranges::all_of(shown.report.experiments, is_finished) ? 0 : 1;
}

int print_summary(const SummarizedReport& report, const std::filesystem::path& directory, bool color) {
  const int code = print_accuracies(report, color);
  print_text("\nreport: {}\npage: {}\n", (directory / kReportFile).string(), (directory / kPageFile).string());
  return code;
}

}  // namespace posbench
