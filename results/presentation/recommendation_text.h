// Writes recommended encodings as a table and JSON.
#pragma once
#include <string>
#include <vector>

#include "results/document/table.h"
#include "results/json/json.h"
#include "results/statistics/recommend.h"

namespace posbench {

/// Returns a row for each encoding that meets the need: its score on each aspect, the tasks on which it keeps the
/// length, and its cost.
Table recommendation_table(const Recommendations&, const Need&);

/// Returns the definitions of the columns, the tasks of each aspect, and the splits or grids that decide on the
/// length.
std::vector<std::string> recommendation_notes(const Recommendations&, const Need&);

/// Returns why no encoding meets the need, and what comes closest.
std::string no_recommendation_text(const Recommendations&, const Need&);

Json to_json(const Recommendations&, const Need&);

}  // namespace posbench
