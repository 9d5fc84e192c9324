// Prints the table of commands and options, as help and as a page of the documents, and the licenses.
#pragma once
#include <string>

#include "harness/console/command.h"

namespace posbench {

/// Returns the text of --help: usage, options with their choices and defaults, commands by group, examples and
/// notes. With --markdown it is docs/cli.md.
std::string help_text(const CommandLine&, const Command&);

/// Returns the text of --licenses: the license of posbench in one line, then each linked and embedded library with
/// its notice.
std::string license_notices();

}  // namespace posbench
