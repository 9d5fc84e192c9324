// Writes and reads the JSON of a report.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "results/json/json.h"
#include "results/statistics/summary.h"
#include "results/types/report.h"

namespace posbench {

constexpr int kSchemaVersion = 1;

/// Computes the summary from the experiments. It is not read back.
Json to_json(const Report&);
Json to_json(const TaskBaseline&);

/// Passes the indented JSON of a report, with its checksum, to `write` in pieces. The summary is that of the
/// report.
void write_report_text(const Report&, const Summary&, const std::function<void(std::string_view)>& write);

/// Ignores unknown fields and rejects all other errors. Throws InputError with one line that names the file and
/// the JSON path.
Report report_from_json(const Json&, const std::string& file);
Report read_report(const std::filesystem::path&);
/// Reads the bytes of a file that gzip may have compressed. Messages call it `file`.
Report parse_report(std::string_view bytes, const std::string& file);

/// Checks an experiment against its task, which is null if it is not listed. `place` is the location of the
/// experiment in the file, with a dot: "experiments[3]."; empty if it is the whole. Throws InputError.
void check_experiment(const ExperimentResult&, const TaskBaseline*, const std::string& file,
                      const std::string& place = "");

/// Returns the report in a run directory: report.json or report.json.gz. Returns an empty path if it has neither.
std::filesystem::path find_report(const std::filesystem::path& directory);

}  // namespace posbench
