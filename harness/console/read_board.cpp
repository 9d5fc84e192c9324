#include "harness/console/read_board.h"

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/config/embedded_data.h"
#include "harness/console/status_line.h"
#include "harness/runs/board_lookups.h"
#include "tasks/registry.h"

namespace posbench {

BoardReport read_board(std::span<const NamedReport> users, bool allow_different_budget) {
  const StatusLine status("reading the board");
  const std::vector<StoredReport> stored = board_reports();
  std::vector<NamedReport> named;
  for (const StoredReport& one : stored) named.push_back({one.name, one.report});
  return merge_board(named, users, board_costs().costs, allow_different_budget, board_lookups());
}

std::vector<AspectTasks> tasks_by_aspect(const Report& report) {
  std::map<Aspect, AspectTasks> by_aspect;
  for (const TaskBaseline& task : report.tasks) {
    const std::string name = spec_name(task.task);
    if (!tasks().contains(name)) continue;
    for (const Aspect aspect : tasks().find(name).info.aspects) {
      AspectTasks& of_aspect = by_aspect[aspect];
      of_aspect.aspect = to_string(aspect);
      (board_lookups().mark_of(task.task).empty() ? of_aspect.tasks : of_aspect.marked).push_back(task.task);
    }
  }
  std::vector<AspectTasks> aspects;
  for (auto& [aspect, of_aspect] : by_aspect) aspects.push_back(std::move(of_aspect));
  return aspects;
}

}  // namespace posbench
