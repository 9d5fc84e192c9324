// Writes how one encoding, or a few of them, do on all tasks of a board.
#pragma once
#include <string>
#include <vector>

#include "results/document/table.h"
#include "results/statistics/board.h"

namespace posbench {

/// Tasks on which the encoding has the same status, with a row for each.
struct OverviewTable {
  std::string title;
  Table table;
};

/// The explanation of the mean in overview_text.
inline constexpr const char* kAboutInterquartileMean =
    "Interquartile mean: mean of the middle half of all values of the encoding, with the 95 % interval over seeds; a "
    "task that it has not learned counts with its accuracy.";

/// Returns true if each task of the board has just one row, of the same encoding or recurrent model.
bool has_one_encoding(const Board&);

/// Returns "cope on 65 tasks, out of distribution: tier 1 on 3, a lower tier on 4, ..., not learned on 28.
/// Interquartile mean over the 45 that an encoding of the board has learned: 0.60 (0.58 to 0.62). Cost: 1.9x."
std::string overview_text(const Board&);

/// Returns a table for each status that occurs: in a tier (for a recurrent model: learned), too few seeds, not
/// learned; and one of the marked tasks. The best task is first, the worst last. Each row also has the best
/// encoding of its task and the mean of that encoding; with_lengths adds the effective lengths, if the reports
/// have any.
std::vector<OverviewTable> overview_tables(const Board&, bool with_lengths);

/// Returns the encodings and recurrent models of all rows. Empty if they are more than four.
std::vector<std::string> few_encodings(const Board&);

/// Returns a row for each task, with the mean of each encoding. The tasks on which the first is furthest ahead
/// come first.
Table side_by_side_table(const Board&, const std::vector<std::string>& encodings);

/// Returns how many tasks each encoding and all of them have learned, and on how many of the latter each is the
/// best. Marked tasks, and those that an encoding has not run, do not count.
std::string side_by_side_text(const Board&, const std::vector<std::string>& encodings);

/// Returns the notes of the table, and of the text before it.
std::vector<std::string> side_by_side_notes(const Board&);

}  // namespace posbench
