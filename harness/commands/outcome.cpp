#include "harness/commands/outcome.h"

#include <fmt/format.h>

#include "harness/commands/terminal.h"
#include "results/presentation/report_table.h"

namespace posbench {

void print(const Table& table, bool color) { fmt::print("{}\n", console(table, {console_width(), color})); }

int print_outcome(const Report& report, const std::filesystem::path& directory, bool color) {
  const Summary summary = summarize(report);
  print(accuracy_table(summary), color);
  for (const std::string& note : accuracy_notes(summary)) fmt::print("{}\n", wrapped(note, 0, console_width()));
  const Table unfinished = unfinished_table(report);
  if (!unfinished.rows.empty()) {
    fmt::print("\n");
    print(unfinished, color);
  }
  fmt::print("\nreport: {}\npage: {}\n", (directory / "report.json").string(),
             (directory / "report.html").string());
  return unfinished.rows.empty() ? 0 : 1;
}

}  // namespace posbench
