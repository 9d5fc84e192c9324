// Parses the command line.
#pragma once

namespace posbench {

/// Parses the command line and runs its command. Returns the exit code.
int run_command_line(int argc, char** argv);

}  // namespace posbench
