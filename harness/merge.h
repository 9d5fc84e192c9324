// `posbench merge`: the run directories of all shards of a suite into one.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace posbench {

struct MergeRequest {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path directory;
  bool force = false, color = false;
  std::vector<std::string> command;  // as it was typed
};

/// Writes what one run of the whole suite would have left: the same bytes but for context and timing. Returns the
/// exit code that it would have had. Throws std::invalid_argument with one line where the runs are not of one
/// suite and one version, where something is missing, and names it, or where something is there twice.
int merge(const MergeRequest&);

}  // namespace posbench
