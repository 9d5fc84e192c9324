// Writes a comparison as tables with the paragraphs that explain them.
#pragma once
#include <string>
#include <vector>

#include "results/document/table.h"
#include "results/statistics/compare.h"

namespace posbench {

/// The order of rows in tables.
inline constexpr Verdict kVerdictOrder[] = {Verdict::worse,       Verdict::better,        Verdict::inconclusive,
                                            Verdict::not_learned, Verdict::too_few_seeds, Verdict::same};

/// Returns a row for each task, encoding and split, in the order of the verdicts.
Table comparison_table(const Comparison&);

/// Returns one table or, if it is wider than the style allows, one table for each task and encoding.
std::string to_console_text(const Comparison&, const ConsoleStyle& = {});
/// Returns Markdown for a pull request, in which the rows with verdict 'same' are collapsed.
std::string to_markdown(const Comparison&);
/// Returns the table with the paragraphs that explain it.
std::string to_latex(const Comparison&);

// Texts of the tables and of the page:
std::string encoding_text(const ComparisonRow&);                 // "cope -> cope:positions=16"
std::string verdict_text(const ComparisonRow&);                  // "better"; "not learned (+0.12)"
std::string comparison_title(const Comparison&);                 // "after, compared with before"
std::string verdict_counts(const Comparison&);                   // "3 worse, 1 same"
std::string comparison_legend(const Comparison&);                // lines that explain the columns
std::vector<std::string> comparison_remarks(const Comparison&);  // experiments on one side only, and warnings

}  // namespace posbench
