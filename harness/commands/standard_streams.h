// Standard input, output and error, as the caller left them.
#pragma once

namespace posbench {

/// Descriptors that the caller has closed would be given to the files of a run, and messages would be written into
/// them. What is written to a closed standard output fails; a closed standard error is ignored.
void open_standard_descriptors();

/// Whether all of the output has been written; says so where it has not.
bool output_written();

}  // namespace posbench
