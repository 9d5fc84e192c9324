// Writes tables and texts for LaTeX.
#pragma once
#include <string>
#include <string_view>

#include "results/document/table.h"

namespace posbench {

/// Returns a tabular of the package booktabs. Cells that the console prints in green are bold: the best tier, what
/// is solved, better or reproduced. A column of long texts breaks its lines.
std::string to_latex(const Table&);

/// Returns a text in which no character is a command of LaTeX.
std::string escape_latex(std::string_view);

}  // namespace posbench
