// The command line: what stands before the verb, the verbs, and what is said of words that are unknown.
#pragma once

namespace posbench {

/// Parses the command line and runs its verb. Returns the exit code.
int run_command_line(int argc, char** argv);

}  // namespace posbench
