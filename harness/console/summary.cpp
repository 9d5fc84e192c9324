#include "harness/console/summary.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "harness/console/terminal.h"
#include "harness/runs/run_record.h"
#include "results/document/wrap.h"
#include "results/presentation/report_table.h"

namespace posbench {

void print_table(const Table& table, bool color) {
  fmt::print("{}\n", to_console_text(table, {console_width(), color}));
}

int print_accuracies(const SummarizedReport& shown, bool color) {
  const auto& [report, summary] = shown;
  print_table(accuracy_table(summary), color);
  for (const std::string& note : accuracy_notes(summary)) fmt::print("{}\n", wrap_text(note, 0, console_width()));
  const Table unfinished = unfinished_table(report);
  if (unfinished.rows.empty()) return 0;
  fmt::print("\n");
  print_table(unfinished, color);
  return 1;
}

int print_summary(const SummarizedReport& report, const std::filesystem::path& directory, bool color) {
  const int code = print_accuracies(report, color);
  fmt::print("\nreport: {}\npage: {}\n", (directory / kReportFile).string(), (directory / kPageFile).string());
  return code;
}

}  // namespace posbench
