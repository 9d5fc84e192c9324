// Makes the document of a comparison: the table of its verdicts, the paragraphs that explain it, and its page.
#pragma once
#include "results/document/document.h"
#include "results/document/table.h"
#include "results/statistics/compare.h"

namespace posbench {

/// Returns a row for each task, encoding and split, in the order of the verdicts.
Table comparison_table(const Comparison&);

/// Returns the same rows with plain numbers, for CSV.
Table comparison_csv(const Comparison&);

Json to_json(const Comparison&);

Document make_comparison_document(Comparison);

}  // namespace posbench
