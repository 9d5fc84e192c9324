// Writes messages to standard error.
#pragma once
#include <string_view>

namespace posbench {

/// Writes a text unchanged. A failure to write is ignored, so that it does not end a run.
void write_message(std::string_view text);

/// Writes "posbench: TEXT" on one line: control characters are replaced, and a long text is shortened.
void write_error(std::string_view text);

/// Writes a note and a new line; nothing with --quiet.
void write_note(std::string_view text);

/// Suppresses progress and notes from now on; errors are still written.
void be_quiet();
bool is_quiet();

}  // namespace posbench
