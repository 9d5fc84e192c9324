#include "harness/runs/loss_trace.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "harness/exchange/saved_model.h"
#include "results/json/checksum.h"

namespace posbench {
namespace {

constexpr const char* kHeader = "learning_rate,step,loss\n";

int count_steps(const LearningRateSweep& sweep) {
  int done = sweep.state.step;
  for (const RateResult& rate : sweep.tried) done += rate.steps;
  return done;
}

/// Returns the header and the lines of the first `steps` steps.
std::string_view first_steps(std::string_view text, int steps) {
  size_t end = 0;
  for (int line = 0; line <= steps && end < text.size(); ++line)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  return text.substr(0, end);
}

/// Flushes a file to disk and returns its text; nothing if it does not exist.
std::optional<std::string> read_flushed(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!exists(path, ignored)) return std::nullopt;
  File file(path, O_RDWR);
  file.flush();
  return file.read();
}

}  // namespace

std::filesystem::path trace_path(const std::filesystem::path& run, const ExperimentId& id) {
  return run / kLossFolder / (file_stem(id) + ".csv");
}

void start_trace(const std::filesystem::path& path, const LearningRateSweep& sweep) {
  const int done = count_steps(sweep);
  std::error_code ignored;
  if (done == 0 || !exists(path, ignored)) return write_file(path, kHeader, OutputFile::Links::replace);
  write_file(path, first_steps(read_file(path), done), OutputFile::Links::replace);
}

void add_to_trace(const std::filesystem::path& path, const LearningRateSweep& sweep) {
  const TrainingState& state = sweep.state;
  File(path, O_WRONLY | O_APPEND).write(fmt::format("{},{},{}\n", state.learning_rate, state.step, state.loss));
}

std::string trace_checksum(const std::filesystem::path& path) {
  const std::optional<std::string> text = read_flushed(path);
  return text ? crc32_text(*text) : "";
}

std::string trace_checksum(const std::filesystem::path& path, const LearningRateSweep& sweep) {
  const std::optional<std::string> text = read_flushed(path);
  return text ? crc32_text(first_steps(*text, count_steps(sweep))) : "";
}

}  // namespace posbench
