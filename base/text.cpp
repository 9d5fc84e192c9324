#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace posbench {
namespace {

/// Levenshtein distance: insertions, deletions and replacements of one character.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

template <class T>
bool parse_whole(std::string_view text, T& value) {
  T parsed{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  value = parsed;
  return true;
}

}  // namespace

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  constexpr size_t kMaxTyped = 100;  // no known name is meant by a longer text
  if (given.size() > kMaxTyped) return "";
  const std::string* nearest = nullptr;
  size_t distance = std::max<size_t>(2, given.size() / 3) + 1;
  for (const std::string& name : known) {
    const size_t d = edit_distance(given, name);
    if (d < distance) nearest = &name, distance = d;
  }
  return nearest ? fmt::format("; did you mean '{}'?", *nearest) : "";
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  if (text.empty()) return pieces;
  pieces.emplace_back();
  int depth = 0;
  for (const char c : text) {
    depth += (c == '(') - (c == ')');
    if (c == separator && depth == 0) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

bool parse(std::string_view text, int& value) { return parse_whole(text, value); }

bool parse(std::string_view text, double& value) {
  double parsed = 0;
  if (!parse_whole(text, parsed) || !std::isfinite(parsed)) return false;
  value = parsed;
  return true;
}

}  // namespace posbench
