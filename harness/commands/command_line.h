// The command line: options before the verb, the verbs, and messages about unknown words.
#pragma once

namespace posbench {

/// Parses the command line and runs its verb. Returns the exit code.
int run_command_line(int argc, char** argv);

}  // namespace posbench
