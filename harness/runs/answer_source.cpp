#include "harness/runs/answer_source.h"

#include <map>

namespace posbench {
namespace {

/// A distance in the task's unit as tokens: tokens_each * distance + added.
struct InTokens {
  int tokens_each = 1, added = 0;
};

const std::map<std::string, InTokens>& tasks_with_sources() {
  static const std::map<std::string, InTokens> tasks{
      {"flip_flop", {2, -1}},  // from an instruction to the bit after an earlier one
      {"induction_heads", {}},
      {"last_x_retrieval", {2, 1}},  // from the query, which follows the last item, to a payload
      {"mqar", {}},
      {"mqmtar", {}},
      {"selective_copy", {}},
      {"variable_tracking", {}},
  };
  return tasks;
}

}  // namespace

std::optional<Index> answer_source(const std::string& task_name, const Example& example, size_t n) {
  const auto found = tasks_with_sources().find(task_name);
  if (found == tasks_with_sources().end() || example.distances.empty()) return std::nullopt;
  const auto& [tokens_each, added] = found->second;
  return Index{example.scored[n]} - (tokens_each * example.distances[n] + added);
}

}  // namespace posbench
