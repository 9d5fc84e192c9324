// Makes the document of the board, and its plots.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "results/document/document.h"
#include "results/presentation/board_text.h"
#include "results/statistics/aspect_ranking.h"
#include "results/statistics/board.h"

namespace posbench {

/// Selects the rows that are shown.
using ShowsRow = std::function<bool(const std::string& task, const std::string& encoding)>;
inline bool shows_all(const std::string&, const std::string&) { return true; }

/// Returns a row for each task, or all rows if there is one task. A few encodings have a table of their own.
/// Tiers and counts are those of all rows. The report must outlive the document. Throws InputError if no row is
/// shown.
Document make_board_document(const BoardReport&, Board, const BoardTexts&, const ShowsRow& = shows_all);

/// Returns plots of the seeds of every encoding on one task of the board, by tier and with their costs: for the
/// mean out of distribution and for each split.
std::vector<Plot> seed_plots(const BoardReport&, const TaskBaseline&, const BoardOptions&,
                             const ShowsRow& = shows_all);

/// Returns a row for each encoding: the tasks that it keeps at the length, those that it has learned, its score on
/// each aspect, and its cost; then the definitions of the columns and the tasks.
Document make_document(const AspectRanking&);

}  // namespace posbench
