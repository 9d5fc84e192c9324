// A comparison as people and programs read it.
#pragma once
#include <string>

#include "results/presentation/table.h"
#include "results/statistics/compare.h"

namespace posbench {

/// A row for each task, encoding and split: worse first, then better, undecided, not learned, too few seeds and
/// same.
Table comparison_table(const Comparison&);

/// One table, or where it is wider than the style allows, one for each task and encoding.
std::string console(const Comparison&, const ConsoleStyle& = {});
/// For a pull request: rows that are the same are folded away.
std::string markdown(const Comparison&);
Json to_json(const Comparison&);

/// What one row says, as the tables and the page have it.
std::string encoding_text(const ComparisonRow&);    // "cope -> cope:positions=16"
std::string verdict_text(const ComparisonRow&);     // "better"; "not learned (+0.12)"
std::string title(const Comparison&);               // "after, compared with before"
std::string verdict_counts(const Comparison&);      // "3 worse, 1 same"
std::string legend(const Comparison&);              // lines that explain the columns
std::vector<std::string> remarks(const Comparison&);  // what is on one side only, and warnings

}  // namespace posbench
