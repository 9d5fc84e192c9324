// Writes the JSON of a report's summary.
#pragma once
#include "results/json/json.h"
#include "results/statistics/summary.h"

namespace posbench {

Json to_json(const SummaryRow&);
Json to_json(const Ranking&);

}  // namespace posbench
