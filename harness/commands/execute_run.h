// Runs a configuration into a run directory, for `posbench run` and `posbench reproduce`.
#pragma once
#include "harness/commands/execution_options.h"
#include "harness/config/config.h"

namespace posbench {

/// Returns the exit code: 0; 1 if an experiment diverged or failed (only with `print_summary`), a
/// file could not be written or memory ran out; 130 if it was interrupted. Throws InputError before anything runs.
int execute_run(const RunConfig&, const ExecutionOptions&);

}  // namespace posbench
