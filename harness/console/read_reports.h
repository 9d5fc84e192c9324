// Reads the reports that a command is given, which are files or run directories, whose runs may be unfinished, and
// the board that the program contains.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "harness/config/embedded_data.h"
#include "harness/console/command.h"
#include "results/statistics/aspect_scores.h"
#include "results/statistics/board.h"
#include "results/types/report.h"

namespace posbench {

/// Throws InputError if there is no valid report.
Report read_run_report(const std::filesystem::path&);
std::vector<Report> read_run_reports(const std::vector<std::filesystem::path>&);

/// Throws InputError if no experiment of the report is finished.
void check_finished(const Report&, const std::filesystem::path&);

/// Names each report by its path. The reports must outlive the result.
std::vector<NamedReport> name_reports(const std::vector<std::filesystem::path>&, const std::vector<Report>&);

/// Reports of the user that join the board.
struct AddedReports {
  std::vector<std::filesystem::path> paths;  // or run directories
  bool allow_different_budget = false;
};

/// Adds the argument `reports` and --allow-different-budget.
void add_reports(Command&, AddedReports&);

/// Reads all reports of the board, or those of some encodings, and merges them with the user's. Shows a status
/// line meanwhile. Throws InputError as merge_board does.
BoardReport read_board(const AddedReports&, const std::vector<std::string>& encodings = {});

/// Merges stored reports, which messages call "the board's FILE", with those of the user, which have been read.
BoardReport merge_board(const std::vector<StoredReport>&, const AddedReports&, const std::vector<Report>& users);

/// Returns the aspects that tasks of the stored reports test, in the order of their enumerators. Tasks that only a
/// user's report has do not count, because no other encoding ran them.
std::vector<AspectTasks> tasks_by_aspect(const BoardReport&);

}  // namespace posbench
