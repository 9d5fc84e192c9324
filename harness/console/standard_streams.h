// Guards standard input, output and error.
#pragma once

namespace posbench {

/// Opens the descriptors that the caller has closed. Otherwise the files of a run would get them, and messages
/// would be written into these files. Writing to a closed standard output fails; a closed standard error is
/// ignored.
void open_standard_descriptors();

/// Flushes standard output. Returns false, after a message, if something could not be written.
bool flush_output();

}  // namespace posbench
