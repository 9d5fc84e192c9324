// Writes the board as a page.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "results/document/page.h"
#include "results/presentation/board_text.h"
#include "results/statistics/summary.h"

namespace posbench {

/// Selects the rows that are shown.
using ShowsRow = std::function<bool(const std::string& task, const std::string& encoding)>;

/// Removes the other rows, and tasks that then have none. Tiers and counts stay those of all.
void hide_rows(Board&, const ShowsRow&);

/// Returns one HTML file. It has for each task a plot of the seeds of every encoding, by tier and with its cost,
/// for the mean out of distribution and for each split; then the sections of a report's page. The tiers are
/// computed from all rows.
std::string make_board_page(const BoardReport&, const BoardOptions&, const BoardTexts&, const ShowsRow&);

/// Returns the page of a site for the whole board.
std::string make_board_page(const BoardReport&, const BoardOptions&, const BoardTexts&, const SitePart&);

/// Returns plots of the seeds of every encoding on one task of the board, by tier and with their costs: for the
/// mean out of distribution and for each split.
std::vector<Plot> seed_plots(const BoardReport&, const TaskBaseline&, const BoardOptions&);

}  // namespace posbench
