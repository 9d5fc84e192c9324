// A comparison as people and programs read it.
#pragma once
#include <string>

#include "results/presentation/table.h"
#include "results/statistics/compare.h"

namespace posbench {

/// A row for each task, encoding and split: worse first, then better, undecided, not learned, too few seeds and
/// same.
Table comparison_table(const Comparison&);

std::string console(const Comparison&, bool color = false);
/// For a pull request: rows that are the same are folded away.
std::string markdown(const Comparison&);
Json to_json(const Comparison&);

}  // namespace posbench
