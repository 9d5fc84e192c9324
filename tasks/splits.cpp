#include "tasks/splits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace posbench {
namespace {

/// A factor of the trained value of this option or of another, and a number to add, as in "0.5x(length)-2".
struct Factor {
  double factor = 0;
  std::string option;  // empty: the option that is set
  int added = 0;

  static std::optional<Factor> parse(const std::string& text) {
    const size_t x = text.find('x');
    Factor f;
    if (x == text.npos || !posbench::parse_number(text.substr(0, x), f.factor) || f.factor < 0)
      return std::nullopt;
    std::string rest = text.substr(x + 1);
    if (rest.starts_with('(')) {
      const size_t end = rest.find(')');
      if (end == rest.npos) return std::nullopt;
      f.option = rest.substr(1, end - 1);
      rest.erase(0, end + 1);
    }
    if (rest.starts_with('+')) rest.erase(0, 1);
    if (!rest.empty() && !posbench::parse_number(rest, f.added)) return std::nullopt;
    return f;
  }
};

/// Returns the pieces of a list or an interval.
std::vector<std::string> pieces(const std::string& text) {
  const size_t dots = text.find("..");
  if (dots != text.npos) return {text.substr(0, dots), text.substr(dots + 2)};
  return split_list(text, '/');
}

bool is_relative_value(const std::string& value) {
  if (value.empty() || std::isdigit(static_cast<unsigned char>(value[0])) == 0) return false;
  const std::vector<std::string> parts = pieces(value);
  return std::any_of(parts.begin(), parts.end(),
                     [](const std::string& part) { return Factor::parse(part).has_value(); });
}

/// Resolves the values of one option.
class Resolver {
 public:
  Resolver(const Spec& trained, const std::vector<OptionInfo>& options, std::string name)
      : trained_(trained), options_(options), name_(std::move(name)) {}

  std::string value(const std::string& text) const {
    if (!is_relative_value(text)) return text;
    if (option(name_).type == OptionType::number) {
      const auto factor = Factor::parse(text);
      double value = 0;
      if (!factor || !factor->option.empty() || !parse_number(trained(name_), value)) refuse(text);
      return fmt::format("{}", factor->factor * value + factor->added);
    }
    const std::vector<std::string> parts = pieces(text);
    if (text.find("..") != text.npos) {
      const int low = bound(parts[0], true), high = bound(parts[1], false);
      if (low > high)
        throw InputError(fmt::format("{}={} is empty: it would be {} to {}", name_, text, low, high));
      return fmt::format("{}..{}", low, high);
    }
    std::vector<int> values;
    for (const std::string& part : parts) values.push_back(bound(part, false));
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return fmt::format("{}", fmt::join(values, "/"));
  }

 private:
  [[noreturn]] void refuse(const std::string& text) const {
    throw InputError(fmt::format(
        "{}={}: expected a value, or a factor of the trained value such as 4x, 1x..2x, 1.5x/2x or 1x(length)-2",
        name_, text));
  }

  const OptionInfo& option(const std::string& name) const {
    const auto found =
        std::find_if(options_.begin(), options_.end(), [&](const OptionInfo& o) { return o.name == name; });
    if (found != options_.end()) return *found;
    throw InputError(fmt::format("task '{}' has no option '{}'", trained_.name, name));
  }

  std::string trained(const std::string& name) const {
    std::string text = option(name).value;
    for (const auto& [set, value] : trained_.options) {
      if (set == name) text = value;
    }
    return text;
  }

  /// Returns an end of an interval, or a value of a list. `beyond`: a factor is the end before the first value.
  int bound(const std::string& text, bool beyond) const {
    int number = 0;
    if (parse_number(text, number)) return number;
    const std::optional<Factor> factor = Factor::parse(text);
    Integers values{0};
    if (!factor) refuse(text);
    const std::string& of = factor->option.empty() ? name_ : factor->option;
    if (!Integers::parse(trained(of), values)) refuse(text);
    const int least = values.min() == 0 ? 0 : 1;
    const double count = factor->factor * (values.max() - least + 1);
    if (!(count < 1e9)) refuse(text);
    int value = static_cast<int>(std::lround(count)) + least - 1;
    if (factor->option.empty() && factor->factor > 1) value = std::max(value, values.max() + 1);
    return value + factor->added + (beyond ? 1 : 0);
  }

  const Spec& trained_;
  const std::vector<OptionInfo>& options_;
  std::string name_;
};

}  // namespace

bool is_relative(const TaskInfo::Split& split) {
  return std::any_of(split.options.begin(), split.options.end(),
                     [](const auto& option) { return is_relative_value(option.second); });
}

TaskInfo::Split resolved(const Spec& trained, const std::vector<OptionInfo>& options,
                         const TaskInfo::Split& split) {
  TaskInfo::Split result = split;
  for (auto& [name, value] : result.options) value = Resolver(trained, options, name).value(value);
  return result;
}

}  // namespace posbench
