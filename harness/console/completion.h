// Writes the scripts with which a shell completes commands, options and registered names.
#pragma once
#include <string>
#include <vector>

#include "harness/console/command_description.h"

namespace posbench {

/// Returns the completion script of a shell: bash, zsh or fish.
std::string completion_script(const std::vector<CommandInfo>&, const std::string& shell);

}  // namespace posbench
