#include "harness/runs/result_files.h"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/signals.h"
#include "harness/exchange/safetensors.h"
#include "harness/exchange/saved_model.h"
#include "harness/runs/loss_trace.h"
#include "results/json/checksum.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

std::string read_model(const fs::path& path, const ExperimentId& id) {
  std::string bytes = read_file(path);
  SafeTensors file = parse_safetensors(bytes, path.string());
  for (const auto& [key, expected] : {std::pair("task", id.task), std::pair("encoding", id.encoding),
                                      std::pair("seed", fmt::format("{}", id.seed))}) {
    if (file.metadata[key] == expected) continue;
    throw InputError(
        fmt::format("{}: __metadata__.{} is \"{}\", expected \"{}\": it is the model of another experiment",
                    path.string(), key, file.metadata[key], expected));
  }
  return bytes;
}

std::string read_losses(const fs::path& path, const FinishedExperiment& finished) {
  std::string text = read_file(path);
  const std::string& expected = finished.losses_checksum;
  if (expected.empty() || crc32_text(text) == expected) return text;
  throw InputError(fmt::format("{}: its checksum is {}, expected {}: it was changed; restore it, or delete it",
                               path.string(), crc32_text(text), expected));
}

using Use = std::function<void(const fs::path& file, std::string_view bytes)>;

/// Reads and checks each file that exists.
void for_each_file(const fs::path& run, const RunRecord& record, const Use& use) {
  for (const ExperimentId& id : record.manifest.experiments) {
    const auto found = record.finished.find(id);
    if (found == record.finished.end()) continue;
    const fs::path model = model_path(run, id), losses = trace_path(run, id);
    if (record.manifest.save_models && fs::exists(model)) use(model, read_model(model, id));
    if (fs::exists(losses)) use(losses, read_losses(losses, found->second));
  }
}

}  // namespace

size_t check_result_files(const fs::path& run, RunRecord& record) {
  size_t missing = 0;
  for (auto& [id, finished] : record.finished) {
    const bool has_model = record.manifest.save_models && finished.result.status == Status::ok &&
                           !finished.result.extended && !finished.result.tuning;
    if (has_model && !fs::exists(model_path(run, id)))
      throw InputError(fmt::format("{} is missing; copy the whole run directory", model_path(run, id).string()));
    if (finished.losses_checksum.empty() || fs::exists(trace_path(run, id))) continue;
    finished.losses_checksum.clear();
    ++missing;
  }
  for_each_file(run, record, [](const fs::path&, std::string_view) {});
  return missing;
}

void copy_result_files(const fs::path& run, const RunRecord& record, const fs::path& to) {
  for_each_file(run, record, [&](const fs::path& file, std::string_view bytes) {
    check_interrupted();
    const fs::path copy = to / file.lexically_relative(run);
    make_folder(copy.parent_path());
    write_file(copy, bytes, OutputFile::Links::replace);
  });
}

}  // namespace posbench
