#include "base/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"

namespace posbench {
namespace {

bool is_assignment(const std::string& piece) { return piece.find('=') < piece.find_first_of(":("); }

/// Returns the place behind the parenthesis that closes the first one. Returns npos if it is not closed.
size_t closed_at(std::string_view text) {
  int depth = 0;
  for (size_t n = 0; n < text.size(); ++n) {
    depth += (text[n] == '(') - (text[n] == ')');
    if (depth == 0) return n + 1;
  }
  return text.npos;
}

/// Returns whether one pair of parentheses encloses the value.
bool in_parentheses(std::string_view value) {
  return value.size() >= 2 && value.front() == '(' && closed_at(value) == value.size();
}

}  // namespace

std::string Spec::text() const {
  std::string text = name;
  char separator = ':';
  for (const auto& [key, value] : options) {
    const bool nested = value.find_first_of(",:") != value.npos || in_parentheses(value) || value.ends_with(' ');
    text += fmt::format("{}{}={}{}{}", separator, key, nested ? "(" : "", value, nested ? ")" : "");
    separator = ',';
  }
  return text;
}

Spec Spec::parse(std::string_view text) {
  constexpr size_t kMaxSize = 10000, kMaxNested = 32;
  // Every nested spec has a colon. The bound keeps the recursion short.
  const auto nested = static_cast<size_t>(std::count(text.begin(), text.end(), ':'));
  if (text.size() > kMaxSize || nested > kMaxNested) {
    throw InputError(fmt::format("'{}': expected a spec of up to {} characters with up to {} colons",
                                 to_one_line(text, 200), kMaxSize, kMaxNested));
  }
  if (!has_paired_parentheses(text)) {
    throw InputError(fmt::format("'{}' has a parenthesis without its partner", text));
  }
  if (in_parentheses(text)) text = text.substr(1, text.size() - 2);
  const size_t colon = text.find(':');
  Spec spec{std::string(text.substr(0, colon)), {}};
  if (spec.name.empty())
    throw InputError(fmt::format("'{}' names nothing; expected NAME or NAME:option=value", text));
  if (colon == text.npos) return spec;
  for (const std::string& piece : split_list(text.substr(colon + 1), ',')) {
    const size_t equals = piece.find('=');
    if (equals == piece.npos || equals == 0) {
      throw InputError(fmt::format("'{}' in '{}' is not option=value", piece, text));
    }
    const std::string key = piece.substr(0, equals), value = piece.substr(equals + 1);
    for (const auto& [earlier, ignored] : spec.options) {
      if (earlier == key) throw InputError(fmt::format("'{}' sets {} twice", text, key));
    }
    spec.options.emplace_back(key, in_parentheses(value) ? value.substr(1, value.size() - 2) : value);
  }
  if (spec.options.empty()) throw InputError(fmt::format("'{}' ends where option=value was expected", text));
  return spec;
}

std::vector<std::string> split_specs(std::string_view text) {
  std::vector<std::string> specs;
  for (const std::string& piece : split_list(text, ',')) {
    if (!specs.empty() && is_assignment(piece)) {
      specs.back() += "," + piece;
    } else {
      specs.push_back(piece);
    }
  }
  return specs;
}

}  // namespace posbench
