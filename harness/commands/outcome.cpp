#include "harness/commands/outcome.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "results/presentation/report_table.h"

namespace posbench {

void print(const Table& table, bool color) {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  fmt::print("{}\n", console(table, {known ? size.ws_col : 100, color}));
}

int print_outcome(const Report& report, const std::filesystem::path& directory, bool color) {
  const Summary summary = summarize(report);
  print(accuracy_table(summary), color);
  for (const std::string& note : accuracy_notes(summary)) fmt::print("{}\n", note);
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
