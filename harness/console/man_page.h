// Writes the manual page posbench(1).
#pragma once
#include <string>
#include <vector>

#include "harness/console/command_description.h"

namespace posbench {

std::string man_page(const std::vector<CommandInfo>&);

}  // namespace posbench
