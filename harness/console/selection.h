// Selects tasks, encodings and splits of reports by the names that a user gives.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/console/command.h"
#include "results/statistics/comparison.h"
#include "results/types/report.h"

namespace posbench {

/// Returns the names that a list selects. The list is as a user writes it: names, aliases, specs without their
/// options, globs, and a leading - that excludes. A list that begins with an exclusion begins with all names.
/// The kind is task, encoding or split. Throws InputError if an item selects none.
std::set<std::string> select_names(const std::string& list, ValueKind, const std::set<std::string>& names);

struct Selection {
  std::optional<std::string> tasks, encodings, splits;  // lists as a user writes them; empty: all
};

/// Adds -t, -e and --split.
void add_selection(Command&, Selection&);

/// Removes the tasks, encodings and splits that are not selected. The split in_distribution is always kept,
/// because it decides whether a task was learned. Throws InputError if no report has a name, or if nothing is
/// left.
void select(const Selection&, std::vector<Report>&);

/// Removes the rows that are not selected. The p-values stay corrected for all tests. Throws InputError as above.
void select(const Selection&, Comparison&);

}  // namespace posbench
