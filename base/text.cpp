#include "base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace posbench {
namespace {

/// Returns the number of changes from one text to the other: insertions, deletions and replacements of one
/// character, and exchanges of two adjacent ones.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const size_t replaced = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      d[i][j] = std::min({replaced, d[i - 1][j] + 1, d[i][j - 1] + 1});
      const bool is_exchange = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_exchange) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d.back().back();
}

/// Returns true if `typed` is `name` with its last part, such as "learning_rate", replaced by the initials of its
/// words.
bool has_initials(std::string_view name, std::string_view typed) {
  const size_t dot = name.rfind('.');
  const size_t begin = dot == name.npos ? 0 : dot + 1;
  std::string initials(name.substr(0, begin));
  for (size_t n = begin; n < name.size(); ++n) {
    if (n == begin || name[n - 1] == '_') initials += name[n];
  }
  return initials.size() > begin + 1 && initials == typed;
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

std::string lower_case(std::string_view text) {
  std::string result;
  for (const unsigned char c : text) result += static_cast<char>(std::tolower(c));
  return result;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  constexpr size_t kMaxTyped = 100;  // characters; a longer text is no misspelled name
  if (given.size() > kMaxTyped) return "";
  constexpr size_t kBeginning = 3;  // characters that identify a name, such as "--enc" without the dashes
  const std::string typed = lower_case(given);
  const std::string singular =
      typed.size() > kBeginning && typed.ends_with('s') ? typed.substr(0, typed.size() - 1) : typed;
  const bool is_long =
      typed.find_last_not_of('-') - std::min(typed.find_first_not_of('-'), typed.size()) + 1 >= kBeginning;
  const std::string* nearest = nullptr;
  // At least one character must be right.
  size_t distance = std::min(std::max<size_t>(2, given.size() / 3) + 1, given.size());
  for (const std::string& name : known) {
    const bool is_beginning = is_long && lower_case(name).starts_with(singular);
    const size_t d =
        is_beginning || has_initials(lower_case(name), typed) ? 0 : edit_distance(typed, lower_case(name));
    // The shortest of several names with this beginning is meant: "rope" for "rop", and not "rope++".
    if (d < distance || (d == 0 && nearest && name.size() < nearest->size())) nearest = &name, distance = d;
  }
  return nearest ? fmt::format("; did you mean '{}'?", *nearest) : "";
}

std::string counted(size_t n, const std::string& noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string some_names(std::span<const std::string> names, size_t most, std::optional<size_t> count) {
  const size_t shown = std::min(names.size(), most), all = count.value_or(names.size());
  const std::string text = fmt::format("{}", fmt::join(names.first(shown), ", "));
  return shown < all ? fmt::format("{} and {} more", text, all - shown) : text;
}

std::string for_shell(const std::string& spec) {
  return spec.find('(') == std::string::npos ? spec : '"' + spec + '"';
}

std::vector<std::string> split_list(std::string_view text, char separator) {
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
  for (std::string& piece : pieces) {
    const size_t first = piece.find_first_not_of(' ');
    piece = first == piece.npos ? "" : piece.substr(first, piece.find_last_not_of(' ') + 1 - first);
  }
  return pieces;
}

bool parse_number(std::string_view text, int& value) {
  if (parse_whole(text, value)) return true;
  double number = 0;  // "1e3" is an integer too
  if (text.find_first_of("eE") == text.npos || !parse_number(text, number)) return false;
  if (number != std::floor(number) || std::abs(number) > std::numeric_limits<int>::max()) return false;
  value = static_cast<int>(number);
  return true;
}

bool parse_number(std::string_view text, double& value) {
  double parsed = 0;
  if (!parse_whole(text, parsed) || !std::isfinite(parsed)) return false;
  value = parsed;
  return true;
}

bool has_paired_parentheses(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    depth += (c == '(') - (c == ')');
    if (depth < 0) return false;
  }
  return depth == 0;
}

}  // namespace posbench
