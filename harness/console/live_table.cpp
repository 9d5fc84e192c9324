#include "harness/console/live_table.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/console/terminal.h"
#include "harness/runs/run_record.h"
#include "results/document/table.h"
#include "results/presentation/report_table.h"

namespace posbench {

LiveTable::LiveTable(const RunDirectory& directory, const std::vector<TaskBaseline>& baselines, Progress& progress,
                     bool color)
    : directory_(directory), baselines_(baselines), progress_(progress), color_(color) {}

void LiveTable::update() {
  using Clock = std::chrono::steady_clock;
  if (!progress_.shows_tables()) return;
  const Clock::time_point start = Clock::now();
  if (start < next_) return;
  const Report report = make_report(directory_.record(), baselines_, Json::object());
  const Table table = accuracy_table(summarize(report));
  progress_.set_table("\n" + to_console_text(table, {message_width(), color_}) + "\n");
  next_ = start + 20 * (Clock::now() - start);  // so that a long run does not spend its time on tables
}

}  // namespace posbench
