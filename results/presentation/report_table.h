// The tables of a report.
#pragma once
#include <string>
#include <vector>

#include "results/statistics/summary.h"
#include "results/presentation/table.h"

namespace posbench {

/// Encodings as rows, tasks as columns; in each cell the mean of the metric in / out of distribution over
/// seeds. A letter after it marks that some seeds diverged (d) or failed (f); if all did, the cell is a word.
Table accuracy_table(const Summary&, Metric = Metric::sequence);

/// The notes under the table: the units, and the meaning of the letters and signs that it uses.
std::vector<std::string> accuracy_notes(const Summary&, Metric = Metric::sequence);

/// Encodings in the order of their mean rank out of distribution.
Table ranking_table(const Summary&);

/// Every number of the summary: a row for each task, encoding and split, for a spreadsheet. Of a sweep the last columns
/// are swept_task and swept_encoding, the specs without what was swept, and one for each swept value.
Table split_table(const Summary&);

/// Experiments that did not finish, with their reasons.
Table unfinished_table(const Report&);

}  // namespace posbench
