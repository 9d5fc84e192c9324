// Writes the summary over tasks as a table, JSON and a section of a page.
#pragma once
#include <string>
#include <vector>

#include "results/document/page.h"
#include "results/document/table.h"
#include "results/json/json.h"
#include "results/presentation/board_text.h"
#include "results/statistics/aggregate.h"
#include "results/statistics/over_tasks.h"

namespace posbench {

/// Returns a row for each encoding: interquartile mean, the probability that the first is better on the tasks that
/// both have learned, and the number of learned tasks.
Table over_tasks_table(const OverTasks&);

/// Returns the definitions of the columns, and the tasks and encodings that are left out.
std::vector<std::string> over_tasks_notes(const OverTasks&, const BoardOptions&);

/// Returns plots of the interquartile means, the probabilities and the performance profiles.
Section over_tasks_section(const OverTasks&);

Json to_json(const OverTasks&);

/// Returns "0.85 (0.80 to 0.90)": the value and its interval.
std::string estimate_text(const Estimate&);

}  // namespace posbench
