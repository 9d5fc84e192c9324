// Writes the numbers of a comparison for programs, as CSV and as JSON.
#pragma once
#include "results/document/table.h"
#include "results/json/json.h"
#include "results/statistics/compare.h"

namespace posbench {

/// The order of rows in tables.
inline constexpr Verdict kVerdictOrder[] = {Verdict::worse,       Verdict::better,        Verdict::inconclusive,
                                            Verdict::not_learned, Verdict::too_few_seeds, Verdict::same};

/// Returns a row for each task, encoding and split, in the order of the verdicts, with plain numbers.
Table comparison_csv(const Comparison&);

Json to_json(const Comparison&);

}  // namespace posbench
