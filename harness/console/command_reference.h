// Writes the page docs/cli.md.
#pragma once
#include <string>
#include <vector>

#include "harness/console/command_description.h"

namespace posbench {

/// Returns every command with its usage, options and examples in Markdown, by group.
std::string command_reference(const std::vector<CommandInfo>&);

}  // namespace posbench
