#include "results/types/experiment_result.h"

#include <limits>
#include <string>
#include <vector>

namespace posbench {

double accuracy(Count count) {
  if (count.total == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(count.correct) / static_cast<double>(count.total);
}

const std::vector<std::string>& status_names() {
  static const std::vector<std::string> names{"ok", "diverged", "failed"};
  return names;
}

const std::vector<std::string>& split_kind_names() {
  static const std::vector<std::string> names{"in_distribution", "out_of_distribution", "shifted"};
  return names;
}

const std::vector<std::string>& grid_end_names() {
  static const std::vector<std::string> names{"complete", "accuracy", "task", "encoding", "memory"};
  return names;
}

std::string to_string(GridEnd end) { return grid_end_names()[static_cast<size_t>(end)]; }

bool is_decided(Count count) {
  constexpr double kZ = 1.959963984540054;  // the 97.5 % quantile of the normal distribution
  const double n = static_cast<double>(count.total), difference = static_cast<double>(count.correct) - kKept * n;
  return difference * difference > kZ * kZ * kKept * (1 - kKept) * n;  // the interval inverts this test
}

bool has_failed(const GridResult& grid) {
  const auto is_low = [](const GridPoint& point) { return accuracy(point.sequence) < kGridFloor; };
  return grid.points.size() >= 2 && is_low(grid.points.back()) && is_low(*(grid.points.end() - 2));
}

std::string to_string(Status status) { return status_names()[static_cast<size_t>(status)]; }
std::string to_string(SplitKind kind) { return split_kind_names()[static_cast<size_t>(kind)]; }

std::string spec_name(const std::string& spec) { return spec.substr(0, spec.find(':')); }

}  // namespace posbench
