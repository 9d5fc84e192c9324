#include "harness/training/evaluate_grids.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

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

/// Sets the end of the grid if the model cannot read so many tokens. Returns true if it can.
bool allows_length(const Spec& encoding, const ModelConfig& shape, int tokens, GridResult& grid) {
  if (tokens <= shape.longest) return true;
  if (!shape.is_recurrent() && static_cast<double>(shape.layers) * shape.heads * tokens * tokens > kMaxScores) {
    grid.end = GridEnd::memory;
    grid.reason = fmt::format("the attention scores of {} tokens take more than 512 MiB", tokens);
    return false;
  }
  ModelConfig longer = shape;
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

/// The model that is tested.
struct Subject {
  const TaskSetup& task;
  const Spec& encoding;
  std::uint64_t seed;
  const Model& model;
  const Parameters& parameters;
};

/// Returns nothing if a stop was requested.
std::optional<GridResult> evaluate_grid(const Subject& subject, const TaskGrid& grid,
                                        const std::stop_token& stop) {
  GridResult result{.option = grid.option};
  for (const TaskGrid::Point& point : grid.points) {
    const SampleStream samples = subject.task.grid_stream(grid, point, subject.seed);
    const int sequences = grid_sequences(subject.task.options.evaluation.grid, point.multiple);
    const int tokens = longest_sample(samples, sequences);
    if (!allows_length(subject.encoding, subject.model.shape, tokens, result)) return result;
    const SplitResult tested = evaluate(subject.model, subject.parameters, samples, sequences, stop);
    if (tested.sequences < sequences) return std::nullopt;
    result.points.push_back({.multiple = point.multiple,
                             .value = point.value,
                             .sequences = tested.sequences,
                             .token = tested.token,
                             .sequence = tested.sequence});
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

std::optional<std::vector<GridResult>> evaluate_grids(const TaskSetup& task, const Spec& encoding,
                                                      std::uint64_t seed, const Model& model,
                                                      const Parameters& parameters, const std::stop_token& stop) {
  std::vector<GridResult> results;
  for (const TaskGrid& grid : task.grids) {
    std::optional<GridResult> result = evaluate_grid({task, encoding, seed, model, parameters}, grid, stop);
    if (!result) return std::nullopt;
    results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace posbench
