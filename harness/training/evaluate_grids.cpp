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
  if (!config.is_recurrent() && static_cast<double>(config.layers) * config.heads * tokens * tokens > kMaxScores) {
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
  for (const TaskGrid::Point& point : grid.points) {
    const SampleStream samples = tested.task.grid_stream(grid, point, tested.seed);
    const int sequences = grid_sequences(tested.task.options.evaluation.grid, point.multiple);
    const int tokens = longest_sample(samples, sequences);
    if (!allows_length(tested.encoding, tested.model.config, tokens, result)) return result;
    const SplitResult counts = evaluate(tested.model, tested.parameters, samples, sequences, stop, pool);
    if (counts.sequences < sequences) return std::nullopt;
    result.points.push_back({.multiple = point.multiple,
                             .value = point.value,
                             .sequences = counts.sequences,
                             .token = counts.token,
                             .sequence = counts.sequence});
    if (!has_failed(result)) continue;
    result.end = GridEnd::accuracy;
    return result;
  }
  if (grid.limit.empty()) return result;
  result.end = GridEnd::task;
  result.reason = grid.limit;
  return result;
}

}  // namespace

std::optional<std::vector<GridResult>> evaluate_grids(const TestedModel& tested, const std::stop_token& stop,
                                                      ThreadPool& pool) {
  std::vector<GridResult> results;
  for (const TaskGrid& grid : tested.task.grids) {
    std::optional<GridResult> result = evaluate_grid(tested, grid, stop, pool);
    if (!result) return std::nullopt;
    results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace posbench
