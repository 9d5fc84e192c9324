// Shows a ranking by aspects.
#pragma once
#include "results/document/document.h"
#include "results/statistics/aspect_ranking.h"

namespace posbench {

/// Returns a row for each encoding: the tasks that it keeps at the length, those that it has learned, its score on
/// each aspect, and its cost; then the definitions of the columns and the tasks.
Document make_document(const AspectRanking&);

}  // namespace posbench
