// Checks and copies the files of finished experiments: models/ and losses/ of a run directory.
#pragma once
#include <cstddef>
#include <filesystem>

#include "base/signals.h"
#include "harness/runs/run_record.h"

namespace posbench {

/// Throws InputError, which names the file, if a model is missing, or if a model or losses are damaged or those of
/// another experiment. Losses that are missing lose their checksum in the record, since the user may have deleted
/// them. Returns their number.
size_t check_result_files(const std::filesystem::path& run, RunRecord&);

/// Copies the files to another run directory, and checks them again. Throws Interrupted, too.
void copy_result_files(const std::filesystem::path& run, const RunRecord&, const std::filesystem::path& to);

}  // namespace posbench
