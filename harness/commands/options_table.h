// Makes the table of the options of a task or an encoding.
#pragma once
#include <vector>

#include "base/registry.h"
#include "results/document/table.h"

namespace posbench {

/// Returns a row for each option: name, default, meaning and expected value.
Table options_table(const std::vector<OptionInfo>&);

}  // namespace posbench
