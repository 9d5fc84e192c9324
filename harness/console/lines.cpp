#include "harness/console/lines.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <optional>
#include <string>

#include "base/printable.h"
#include "harness/console/message.h"
#include "harness/console/terminal.h"
#include "results/document/wrap.h"

namespace posbench {

int list_width() { return is_terminal() ? console_width() : std::numeric_limits<int>::max(); }

void write_line(const std::string& text) {
  constexpr int kIndent = 4;
  const int width = message_width();
  const bool fits = width == 0 || static_cast<int>(text.size()) <= width;
  write_message((fits ? text : indent_lines(wrap_text(text, 0, width - kIndent), kIndent)) + "\n");
}

void write_path(const std::optional<std::filesystem::path>& file) {
  if (file && !is_quiet()) write_message(fmt::format("written: {}\n", to_one_line(file->string())));
}

}  // namespace posbench
