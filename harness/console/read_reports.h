// Reads the reports that a command is given: files, or run directories, whose runs may be unfinished.
#pragma once
#include <filesystem>
#include <vector>

#include "results/types/report.h"

namespace posbench {

/// Throws InputError if there is no valid report.
Report read_run_report(const std::filesystem::path&);
std::vector<Report> read_run_reports(const std::vector<std::filesystem::path>&);

/// Throws InputError if no experiment of the report is finished.
void check_finished(const Report&, const std::filesystem::path&);

/// Names each report by its path. The reports must outlive the result.
std::vector<NamedReport> name_reports(const std::vector<std::filesystem::path>&, const std::vector<Report>&);

}  // namespace posbench
