// Messages on standard error.
#pragma once
#include <string_view>

namespace posbench {

/// Writes a text as it is. That standard error cannot be written is ignored, so that it ends no run.
void write_message(std::string_view text);

/// Writes "posbench: TEXT" on one line: control characters are replaced, and a long text is shortened.
void write_error(std::string_view text);

/// After this, no progress and no notes are written; errors are.
void be_quiet();
bool is_quiet();

}  // namespace posbench
