#include "harness/runs/loss_trace.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "base/file.h"
#include "harness/exchange/saved_model.h"

namespace posbench {
namespace {

constexpr const char* kHeader = "learning_rate,step,loss\n";

}  // namespace

std::filesystem::path trace_path(const std::filesystem::path& run, const ExperimentId& id) {
  return run / kLossFolder / (file_stem(id) + ".csv");
}

void start_trace(const std::filesystem::path& path, const LearningRateSweep& sweep) {
  int done = sweep.state.step;
  for (const RateResult& rate : sweep.tried) done += rate.steps;
  std::error_code ignored;
  if (done == 0 || !exists(path, ignored)) return write_file(path, kHeader);
  const std::string text = read_file(path);
  size_t end = 0;
  for (int line = 0; line <= done && end < text.size(); ++line)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  write_file(path, text.substr(0, end));
}

void add_to_trace(const std::filesystem::path& path, const LearningRateSweep& sweep) {
  const TrainingState& state = sweep.state;
  File(path, O_WRONLY | O_APPEND).write(fmt::format("{},{},{}\n", state.learning_rate, state.step, state.loss));
}

}  // namespace posbench
