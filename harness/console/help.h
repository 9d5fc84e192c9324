// Prints the table of commands and options: as help and as a page of the documents.
#pragma once
#include <string>

#include "harness/console/command.h"

namespace posbench {

/// Returns the text of --help: usage, options with their choices and defaults, commands by group, examples and
/// notes.
std::string help_text(const CommandLine&, const Command&);

/// Returns docs/cli.md: one line for each command and each option, by group.
std::string command_reference(const CommandLine&);

}  // namespace posbench
