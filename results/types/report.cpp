#include "results/types/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace posbench {

const TaskBaseline& find_baseline(const Report& report, const std::string& task) {
  const auto same = [&](const TaskBaseline& baseline) { return baseline.task == task; };
  const auto found = std::find_if(report.tasks.begin(), report.tasks.end(), same);
  if (found != report.tasks.end()) return *found;
  throw std::out_of_range(fmt::format("the report has no task '{}'", task));
}

}  // namespace posbench
