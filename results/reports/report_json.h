// The JSON of a report, written and read.
#pragma once
#include <filesystem>
#include <string>

#include "results/json/json.h"
#include "results/types/report.h"

namespace posbench {

constexpr int kSchemaVersion = 1;

/// The summary is computed from the experiments when the JSON is written, and is not read back.
Json to_json(const Report&);

/// Strict where meaning could be lost, tolerant of unknown fields. Throws std::runtime_error with one line that
/// names the file and the JSON path.
Report report_from_json(const Json&, const std::string& file);
Report read_report(const std::filesystem::path&);

}  // namespace posbench
