#include "harness/console/message.h"

#include <cstdio>
#include <string_view>

#include "base/printable.h"

namespace posbench {
namespace {

bool quiet = false;  // set once, before the command runs

}  // namespace

void write_message(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void write_error(std::string_view text) { write_message("posbench: " + to_one_line(text) + "\n"); }

void write_note(std::string_view text) {
  if (!quiet) write_message(to_printable(text) + "\n");
}

void be_quiet() { quiet = true; }

bool is_quiet() { return quiet; }

}  // namespace posbench
