#include "results/types/experiment_result.h"

#include <limits>
#include <string>
#include <vector>

namespace posbench {

double accuracy(Count count) {
  if (count.total == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(count.correct) / static_cast<double>(count.total);
}

const EnumNames<Status>& names_of(Status) {
  static const EnumNames<Status> names{
      {Status::ok, "ok"}, {Status::diverged, "diverged"}, {Status::failed, "failed"}};
  return names;
}

const EnumNames<SplitKind>& names_of(SplitKind) {
  static const EnumNames<SplitKind> names{{SplitKind::in_distribution, "in_distribution"},
                                          {SplitKind::out_of_distribution, "out_of_distribution"},
                                          {SplitKind::shifted, "shifted"}};
  return names;
}

const EnumNames<GridEnd>& names_of(GridEnd) {
  static const EnumNames<GridEnd> names{{GridEnd::complete, "complete"},
                                        {GridEnd::accuracy, "accuracy"},
                                        {GridEnd::task, "task"},
                                        {GridEnd::encoding, "encoding"},
                                        {GridEnd::memory, "memory"}};
  return names;
}

bool is_decided(Count count) {
  constexpr double kZ = 1.959963984540054;  // the 97.5 % quantile of the normal distribution
  const double n = static_cast<double>(count.total), difference = static_cast<double>(count.correct) - kKept * n;
  return difference * difference > kZ * kZ * kKept * (1 - kKept) * n;  // the interval inverts this test
}

bool has_failed(const GridResult& grid) {
  const auto is_low = [](const GridPoint& point) { return accuracy(point.sequence) < kGridFloor; };
  return grid.points.size() >= 2 && is_low(grid.points.back()) && is_low(*(grid.points.end() - 2));
}

std::string spec_name(const std::string& spec) { return spec.substr(0, spec.find(':')); }

}  // namespace posbench
