#include "base/name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "base/spec.h"
#include "base/text.h"

namespace posbench {
namespace {

/// Returns true if a list with other items before and after the name has it as one item.
bool is_item(const std::string& name) {
  return split_specs("a," + name + ",b") == std::vector<std::string>{"a", name, "b"};
}

}  // namespace

bool is_name(std::string_view text) { return !text.empty() && to_printable(text) == text; }

void check_name(std::string_view text, const std::string& what) {
  const std::string name(text), lower = lower_case(name);
  if (!is_name(name) || !is_item(name) || trimmed(name) != name || name.starts_with('-')) {
    throw InputError(
        fmt::format("{} is '{}', expected printable text that a list can hold: without a comma, an =, an unpaired "
                    "parenthesis, a leading - or a space at its ends",
                    what, to_printable(name)));
  }
  if (lower == "all" || lower.starts_with("aspect:"))
    throw InputError(fmt::format("{} is '{}', which selects several names in a list; choose another", what, name));
}

void check_identifier(const std::string& kind, std::string_view name) {
  const auto is_alphanumeric = [](unsigned char c) { return c < 0x80 && std::isalnum(c) != 0; };
  const auto fits = [&](unsigned char c) {
    return is_alphanumeric(c) || c == '_' || c == '.' || c == '+' || c == '-';
  };
  if (!name.empty() && is_alphanumeric(static_cast<unsigned char>(name.front())) &&
      std::ranges::all_of(name, fits))
    return;
  throw std::logic_error(fmt::format("the name of {} '{}' is invalid, expected letters, digits and _ . + -", kind,
                                     to_printable(name)));
}

}  // namespace posbench
