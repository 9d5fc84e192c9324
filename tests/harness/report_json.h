// Reports as JSON, for comparing runs.
#pragma once
#include <filesystem>

#include "results/json/json.h"

namespace posbench {

/// A report without what may differ between runs of the same configuration: context and timing.
inline Json without_context(const std::filesystem::path& report) {
  Json json = read_json(report);
  json.erase("context");
  json.erase("timing");
  return json;
}

}  // namespace posbench
