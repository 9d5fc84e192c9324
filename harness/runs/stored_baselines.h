// Finds the results of encodings among the reports that the program contains.
#pragma once
#include <string>
#include <vector>

#include "results/types/report.h"

namespace posbench {

struct StoredBaselines {
  Report report;                      // with the tasks of the user's report and its configuration
  std::vector<std::string> warnings;  // what is missing or differs
};

/// Returns the stored results of encodings on the tasks of a report: those of the reference report, and of the
/// board if the reference lacks a task or an encoding or was trained with other settings. Throws InputError if
/// there is none, with the setting that differs.
StoredBaselines find_stored(const NamedReport& mine, const std::vector<std::string>& encodings,
                            bool allow_different_budget);

}  // namespace posbench
