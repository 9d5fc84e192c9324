#include "harness/console/message.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/printable.h"
#include "harness/console/terminal.h"
#include "results/document/wrap.h"

namespace posbench {
namespace {

bool quiet = false;  // set once, before the command runs

}  // namespace

void write_message(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void write_error(std::string_view text) { write_message("posbench: " + to_one_line(text) + "\n"); }

void write_note(std::string_view text) {
  if (!quiet) write_message(to_printable(text) + "\n");
}

int list_width() { return is_terminal() ? console_width() : std::numeric_limits<int>::max(); }

std::string fit_line(const std::string& text) {
  constexpr int kIndent = 4;
  const int width = message_width();
  const bool fits = width == 0 || static_cast<int>(text.size()) <= width;
  return (fits ? text : indent_lines(wrap_text(text, 0, width - kIndent), kIndent)) + "\n";
}

void write_path(const std::optional<std::filesystem::path>& file) {
  if (file && !is_quiet()) write_message(fmt::format("written: {}\n", to_one_line(file->string())));
}

void be_quiet() { quiet = true; }

bool is_quiet() { return quiet; }

}  // namespace posbench
