#include "harness/console/split_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace posbench {

std::string split_changes(const TaskInfo& info, const TaskInfo::Split& split, const char* quote) {
  const auto raw = std::ranges::find(info.splits, split.name, &TaskInfo::Split::name);
  std::vector<std::string> pieces;
  for (size_t n = 0; n < split.options.size(); ++n) {
    const auto& [option, value] = split.options[n];
    const std::string& relative = raw->options[n].second;
    pieces.push_back(
        fmt::format("{}{}={}{}{}", quote, option, value, quote, relative == value ? "" : " (" + relative + ")"));
  }
  return pieces.empty() ? "-" : fmt::format("{}", fmt::join(pieces, ", "));
}

std::string learnability_text(const TaskInfo& info) {
  if (info.learnability == Learnability::learnable) return "";
  return fmt::format("{}, with the default options: {}", to_string(info.learnability), info.learnability_note);
}

}  // namespace posbench
