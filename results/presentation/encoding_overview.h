// Writes how one encoding, or a few of them, do on all tasks of a board.
#pragma once
#include <string>
#include <vector>

#include "results/document/document.h"
#include "results/document/table.h"
#include "results/statistics/board.h"
#include "results/statistics/over_tasks.h"

namespace posbench {

/// The explanation of the mean in overview_text.
inline constexpr const char* kAboutInterquartileMean =
    "Interquartile mean: mean of the middle half of all values of the encoding, with the 95 % interval over seeds; a "
    "task that it has not learned counts with its accuracy.";

/// Returns "cope on 65 tasks, out of distribution: tier 1 on 3, a lower tier on 4, ..., not learned on 28.
/// Interquartile mean over the 45 that an encoding of the board has learned: 0.60 (0.58 to 0.62)."
std::string overview_text(const Board&);

/// Returns a table of the tasks that the encoding has learned, and one of the others, which are not learned or
/// marked. The best task is first, the worst last. Each row also has the best encoding of its task and its mean.
std::vector<Document::Block> overview_blocks(const Board&);

/// Returns the encodings and other models of all rows. Empty if they are more than four.
std::vector<std::string> few_encodings(const Board&);

/// Returns a row for each task, with the mean of each encoding. The tasks on which the first is furthest ahead
/// come first.
Table side_by_side_table(const Board&, const std::vector<std::string>& encodings);

/// Returns a sentence on the two encodings of the rows: on how many tasks the first is better, worse or undecided.
std::string better_text(const Board&, const OverTasks&);

/// Returns the notes of the table.
std::vector<std::string> side_by_side_notes(const Board&);

}  // namespace posbench
