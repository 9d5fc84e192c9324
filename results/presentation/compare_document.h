// Makes the document of a comparison: the table of its verdicts, the paragraphs that explain it, and its page.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/document/document.h"
#include "results/document/table.h"
#include "results/statistics/compare.h"

namespace posbench {

/// Returns a row for each task, encoding and split, in the order of the verdicts.
Table comparison_table(const Comparison&);

/// Returns the same rows with plain numbers, for CSV.
Table comparison_csv(const Comparison&);

Json to_json(const Comparison&);

/// Returns a sentence for each task if names of encodings differ, and one over all tasks for each pair.
std::vector<std::string> conclusions(const Comparison&);

/// Returns "0.0079", "<0.0001", or "-".
std::string p_text(const std::optional<double>&);

Document make_comparison_document(Comparison);

}  // namespace posbench
