// Writes the JSON of a report's summary.
#pragma once
#include <optional>

#include "results/json/json.h"
#include "results/statistics/summary.h"

namespace posbench {

Json to_json(const SummaryRow&);
Json to_json(const Ranking&);
/// Writes an interval with six decimals; null if there is none.
Json write_interval(const std::optional<Interval>&);

}  // namespace posbench
