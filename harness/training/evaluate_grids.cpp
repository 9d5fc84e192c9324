#include "harness/training/evaluate_grids.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/training/evaluate.h"

namespace posbench {
namespace {

constexpr double kMaxScores = 1 << 27;  // of a sequence, in all layers and heads

/// Returns the number of tokens of the longest of the first samples.
int longest_sample(const SampleStream& samples, int count) {
  size_t longest = 0;
  for (int n = 0; n < count; ++n)
    longest = std::max(longest, samples(static_cast<std::uint64_t>(n)).example.tokens.size());
  return static_cast<int>(longest);
}

/// Sets the end of the grid if the model cannot read this number of tokens. Returns true if it can.
bool allows_length(const Spec& encoding, const ModelConfig& config, int tokens, GridResult& grid) {
  if (tokens <= config.longest) return true;
  const int layers = config.attention_index(config.layers);
  if (static_cast<double>(layers) * config.heads * tokens * tokens > kMaxScores) {
    grid.end = GridEnd::memory;
    grid.reason = fmt::format("the attention scores of {} tokens take more than 512 MiB", tokens);
    return false;
  }
  ModelConfig longer = config;
  longer.longest = tokens;
  try {
    make_model(encoding, longer);
    return true;
  } catch (const InputError& error) {
    grid.end = GridEnd::encoding;
    grid.reason = error.what();
    return false;
  }
}

/// Returns nothing if a stop was requested.
std::optional<GridResult> evaluate_grid(const TestedModel& tested, const TaskGrid& grid,
                                        const std::stop_token& stop, ThreadPool& pool) {
  GridResult result{.option = grid.option};
  const EvaluationOptions& options = tested.task.options.evaluation;
  for (const TaskGrid::Point& point : grid.points) {
    const SampleStream samples = tested.task.grid_stream(grid, point, tested.seed);
    const TestSize size = test_size(options, point.multiple);
    const int tokens = longest_sample(samples, size.most);
    if (!allows_length(tested.encoding, tested.model.config, tokens, result)) return ended(std::move(result));
    const SplitResult counts = evaluate(tested.model, tested.parameters, samples, size, stop, pool);
    if (!size.is_enough(counts.sequences, counts.sequence)) return std::nullopt;
    result.points.push_back({.multiple = point.multiple,
                             .value = point.value,
                             .sequences = counts.sequences,
                             .token = counts.token,
                             .sequence = counts.sequence});
    if (is_last(grid, result, options)) break;
  }
  if (!grid.limit.empty()) {
    result.end = GridEnd::task;
    result.reason = grid.limit;
  }
  return ended(std::move(result));
}

}  // namespace

bool is_last(const TaskGrid& grid, const GridResult& result, const EvaluationOptions& options) {
  if (result.points.size() == grid.points.size()) return true;
  const bool is_next_shown = options.grid_rules == 2 && grid.points[result.points.size()].multiple <= kGridLeast;
  return has_failed(result) && !is_next_shown;
}

GridResult ended(GridResult result) {
  if (!has_failed(result)) return result;
  result.end = GridEnd::accuracy;
  result.reason.clear();
  return result;
}

void copy_near_grid(const TaskGrid& far, std::vector<GridResult>& results) {
  const auto near = std::ranges::find(results, std::string("length"), &GridResult::option);
  if (near == results.end()) return;
  results.push_back(*near);
  results.back().option = far.option;
}

std::optional<std::vector<GridResult>> evaluate_grids(const TestedModel& tested, const std::stop_token& stop,
                                                      ThreadPool& pool) {
  std::vector<GridResult> results;
  for (const TaskGrid& grid : tested.task.grids) {
    if (grid.points.empty()) {
      copy_near_grid(grid, results);
      continue;
    }
    std::optional<GridResult> result = evaluate_grid(tested, grid, stop, pool);
    if (!result) return std::nullopt;
    results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace posbench
