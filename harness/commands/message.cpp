#include "harness/commands/message.h"

#include <cstdio>
#include <string>

#include "base/printable.h"

namespace posbench {

void write_message(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void write_error(std::string_view text) { write_message("posbench: " + one_line(text) + "\n"); }

}  // namespace posbench
