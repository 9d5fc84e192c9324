// Writes a report as tables.
#pragma once
#include <string>
#include <vector>

#include "results/document/table.h"
#include "results/statistics/summary.h"
#include "results/types/report.h"

namespace posbench {

struct TaskTable {
  std::string task;
  Table table;
};

/// Returns encodings as rows and tasks as columns. A cell has the effective length, if the report has a grid, and
/// the mean of the metric over seeds, in / out of distribution. If most seeds have not learned the task, "not
/// learned" replaces the accuracy out of distribution, which then says nothing about the encoding. A letter marks
/// that some seeds diverged (d) or failed (f). If all did, the cell is a word.
Table accuracy_table(const Summary&, Metric = Metric::sequence);

/// Returns for each task a table with encodings as rows and splits as columns. A cell has the mean of the metric
/// over seeds, in brackets if most seeds have not learned the task. The points of a sweep are rows of one table,
/// with a column for each swept value.
std::vector<TaskTable> split_tables(const Summary&, Metric = Metric::sequence);

/// Returns for each task that has a grid a table with the sequence accuracy at each multiple: of each encoding and
/// grid the mean over seeds, then every seed.
std::vector<TaskTable> length_tables(const Report&, const Summary&);

/// Returns the notes below the accuracy table or, if `by_split`, below the tables of splits: the units, and the
/// meaning of words, letters and signs.
std::vector<std::string> accuracy_notes(const Summary&, Metric = Metric::sequence, bool by_split = false);

/// Returns a note for each task of which many test samples also occur in the training samples.
std::vector<std::string> memory_notes(const Report&);

/// Returns the encodings in the order of their mean rank out of distribution, then those without one in the order
/// of their mean rank in distribution.
std::vector<Ranking> sort_by_rank(std::vector<Ranking>);
/// Returns the ranks in this order, of encodings with two tasks and two seeds or more.
Table ranking_table(const Summary&);

/// Returns a row for each experiment, split and metric, and for each multiple of the trained length that was
/// tested, whose kind is "grid" and whose split is such as "far=4x", as Report.rows() of the Python package does.
/// An experiment that did not finish has one row, without split and metric. A sweep adds the columns swept_task
/// and swept_encoding (the specs without the swept values) and one for each swept value. A run with extensions
/// adds parent (the encoding of the model that is extended) and further_steps.
Table seed_table(const Report&);

/// Returns a value with its 95 % interval over seeds for each encoding and task, out of distribution if the task
/// has such splits. The best of each task is good.
Table paper_table(const Summary&, Metric);

/// Returns the experiments that did not finish, with their reasons.
Table unfinished_table(const Report&);

}  // namespace posbench
