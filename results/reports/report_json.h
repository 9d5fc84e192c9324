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
/// From the bytes of a file, compressed or not; messages call it `file`.
Report parse_report(std::string_view bytes, const std::string& file);

/// The report in a run directory: report.json, or else report.json.gz. Empty if there is neither.
std::filesystem::path find_report(const std::filesystem::path& directory);

}  // namespace posbench
