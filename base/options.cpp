#include "base/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"

namespace posbench {
namespace {

std::string join_specs(const std::vector<Spec>& specs) {
  std::vector<std::string> texts;
  for (const Spec& spec : specs) texts.push_back(spec.text());
  return fmt::format("{}", fmt::join(texts, ","));
}

/// Shortens a list that repeats to its shortest period.
void shorten_to_period(std::vector<Spec>& specs) {
  std::vector<std::string> texts;
  for (const Spec& spec : specs) texts.push_back(spec.text());
  for (size_t period = 1; period < texts.size(); ++period) {
    if (texts.size() % period != 0 ||
        !std::equal(texts.begin() + static_cast<std::ptrdiff_t>(period), texts.end(), texts.begin()))
      continue;
    specs.resize(period);
    return;
  }
}

}  // namespace

const EnumNames<OptionType>& names_of(OptionType) {
  static const EnumNames<OptionType> names{{OptionType::integer, "integer"},   {OptionType::number, "number"},
                                           {OptionType::numbers, "numbers"},   {OptionType::flag, "flag"},
                                           {OptionType::integers, "integers"}, {OptionType::text, "text"},
                                           {OptionType::choice, "choice"}};
  return names;
}

Integers::Integers(int low, int high) : values_(static_cast<size_t>(high - low + 1)) {
  std::iota(values_.begin(), values_.end(), low);
}

int Integers::min() const { return *std::min_element(values_.begin(), values_.end()); }
int Integers::max() const { return *std::max_element(values_.begin(), values_.end()); }

std::string Integers::text() const {
  const auto is_gap = [](int one, int next) { return next != one + 1; };
  const bool interval = values_.size() > 1 && std::ranges::adjacent_find(values_, is_gap) == values_.end();
  if (interval) return fmt::format("{}..{}", values_.front(), values_.back());
  return fmt::format("{}", fmt::join(values_, "/"));
}

bool Integers::parse(std::string_view text, Integers& value) {
  if (const size_t dots = text.find(".."); dots != text.npos) {
    int low = 0, high = 0;
    const bool numbers = parse_number(text.substr(0, dots), low) && parse_number(text.substr(dots + 2), high);
    constexpr int kMax = 1 << 20;  // an interval is stored as a list
    if (!numbers || low > high || high / 2 - low / 2 > kMax / 2) return false;
    value = Integers{low, high};
    return true;
  }
  std::vector<int> values;
  for (const std::string& piece : split_list(text, '/')) {
    if (!parse_number(piece, values.emplace_back())) return false;
  }
  if (values.empty()) return false;
  value.values_ = std::move(values);
  return true;
}

void OptionTable::integer(std::string name, int& value, int low, int high, std::string help) {
  options_.push_back({std::move(name), OptionType::integer, fmt::format("an integer from {} to {}", low, high),
                      std::move(help), [&value] { return fmt::format("{}", value); },
                      [&value, low, high](std::string_view text) {
                        int parsed = 0;
                        if (!parse_number(text, parsed) || parsed < low || parsed > high) return false;
                        value = parsed;
                        return true;
                      }});
}

void OptionTable::number(std::string name, double& value, double low, double high, std::string help) {
  options_.push_back({std::move(name), OptionType::number, fmt::format("a number from {} to {}", low, high),
                      std::move(help), [&value] { return fmt::format("{}", value); },
                      [&value, low, high](std::string_view text) {
                        double parsed = 0;
                        if (!parse_number(text, parsed) || parsed < low || parsed > high) return false;
                        value = parsed;
                        return true;
                      }});
}

void OptionTable::numbers(std::string name, std::vector<double>& values, double low, double high,
                          std::string help) {
  options_.push_back({std::move(name), OptionType::numbers,
                      fmt::format("a number from {} to {}, or several as in 3e-4,1e-3", low, high),
                      std::move(help), [&values] { return fmt::format("{}", fmt::join(values, ",")); },
                      [&values, low, high](std::string_view text) {
                        std::vector<double> parsed;
                        for (const std::string& piece : split_list(text, ',')) {
                          if (!parse_number(piece, parsed.emplace_back()) || parsed.back() < low ||
                              parsed.back() > high)
                            return false;
                        }
                        std::sort(parsed.begin(), parsed.end());
                        // Several numbers lie between the limits: 1,5e-3 is one number with a decimal comma.
                        if (parsed.size() > 1 && (parsed.front() == low || parsed.back() == high)) return false;
                        if (parsed.empty() || std::adjacent_find(parsed.begin(), parsed.end()) != parsed.end())
                          return false;
                        values = std::move(parsed);
                        return true;
                      }});
}

void OptionTable::flag(std::string name, bool& value, std::string help) {
  options_.push_back({std::move(name), OptionType::flag, "true or false", std::move(help),
                      [&value] { return value ? "true" : "false"; },
                      [&value](std::string_view text) {
                        if (text != "true" && text != "false") return false;
                        value = text == "true";
                        return true;
                      }});
}

void OptionTable::integers(std::string name, Integers& value, int low, int high, std::string help) {
  options_.push_back(
      {std::move(name), OptionType::integers,
       fmt::format("an integer, an interval such as 1..40 or a list such as 21/30/40, from {} to {}", low, high),
       std::move(help), [&value] { return value.text(); },
       [&value, low, high](std::string_view text) {
         Integers parsed{low};
         if (!Integers::parse(text, parsed) || parsed.min() < low || parsed.max() > high) return false;
         value = std::move(parsed);
         return true;
       }});
}

void OptionTable::text(std::string name, std::string& value, std::string expected, std::string help) {
  options_.push_back({std::move(name), OptionType::text, std::move(expected), std::move(help),
                      [&value] { return value; },
                      [&value](std::string_view text) {
                        value = text;
                        return true;
                      }});
}

void OptionTable::choice_index(std::string name, std::vector<std::string> names, std::string help, Aliases aliases,
                               std::function<size_t()> get, std::function<void(size_t)> set) {
  options_.push_back({std::move(name), OptionType::choice, fmt::format("one of {}", fmt::join(names, ", ")),
                      std::move(help), [names, get = std::move(get)] { return names[get()]; },
                      [names, aliases, set](std::string_view text) {
                        for (const auto& [former, current] : aliases) {
                          if (text == former) text = current;
                        }
                        const auto found = std::find(names.begin(), names.end(), text);
                        if (found == names.end()) return false;
                        set(static_cast<size_t>(found - names.begin()));
                        return true;
                      }});
}

void OptionTable::entry_spec(std::string name, Spec& value, std::vector<std::string> names, std::string help,
                             std::function<Spec(const Spec&)> canonical) {
  options_.push_back({std::move(name), OptionType::choice, fmt::format("one of {}", fmt::join(names, ", ")),
                      std::move(help), [&value] { return value.text(); },
                      [&value, names, canonical = std::move(canonical)](std::string_view text) {
                        if (text.empty()) return false;
                        const Spec spec = Spec::parse(text);
                        if (std::ranges::find(names, spec.name) == names.end()) return false;
                        value = canonical(spec);
                        return true;
                      }});
}

void OptionTable::spec_list(std::string name, std::vector<Spec>& value, int& layers,
                            std::vector<std::string> names, std::string help,
                            std::function<Spec(const Spec&)> canonical) {
  options_.push_back({std::move(name), OptionType::choice,
                      fmt::format("one of {}, or several for the layers in turn", fmt::join(names, ", ")),
                      std::move(help), [&value] { return join_specs(value); },
                      [&value, &layers, names, canonical = std::move(canonical)](std::string_view text) {
                        std::vector<Spec> specs;
                        for (const std::string& piece : split_specs(text)) {
                          if (piece.empty()) return false;
                          const Spec spec = Spec::parse(piece);
                          if (std::ranges::find(names, spec.name) == names.end()) return false;
                          specs.push_back(canonical(spec));
                        }
                        if (specs.empty()) return false;
                        shorten_to_period(specs);
                        layers = std::max(layers, static_cast<int>(specs.size()));
                        value = std::move(specs);
                        return true;
                      }});
}

void OptionTable::subset(std::string name, std::vector<std::pair<std::string, bool*>> members, std::string help) {
  std::vector<std::string> names;
  for (const auto& [member, is_set] : members) names.push_back(member);
  options_.push_back({std::move(name), OptionType::text,
                      fmt::format("none, or some of {}, separated by commas", fmt::join(names, ", ")),
                      std::move(help),
                      [members] {
                        std::vector<std::string> set;
                        for (const auto& [member, is_set] : members) {
                          if (*is_set) set.push_back(member);
                        }
                        return set.empty() ? std::string("none") : fmt::format("{}", fmt::join(set, ","));
                      },
                      [members, names](std::string_view text) {
                        const std::vector<std::string> given =
                            text == "none" ? std::vector<std::string>{} : split_list(text, ',');
                        const auto is_known = [&](const std::string& item) {
                          return std::ranges::count(names, item) == 1 && std::ranges::count(given, item) == 1;
                        };
                        if (text.empty() || !std::ranges::all_of(given, is_known)) return false;
                        for (const auto& [member, is_set] : members)
                          *is_set = std::ranges::find(given, member) != given.end();
                        return true;
                      }});
}

void OptionTable::set(std::string_view name, std::string_view text, const std::string& owner) const {
  const auto option =
      std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.is_called(name); });
  if (option == options_.end()) {
    std::vector<std::string> names;
    for (const Option& o : options_) names.push_back(o.name);
    throw InputError(fmt::format("unknown option '{}' of {}{} (it has {})", name, owner, did_you_mean(name, names),
                                 names.empty() ? "no options" : fmt::format("{}", fmt::join(names, ", "))));
  }
  if (to_printable(text) != text || !has_paired_parentheses(text)) {
    throw InputError(
        fmt::format("{}: {} is '{}', expected {} in UTF-8 without control characters and unpaired parentheses",
                    owner, name, to_printable(text), option->expected));
  }
  if (!option->set(text)) {
    throw InputError(fmt::format("{}: {} is '{}', expected {}", owner, name, text, option->expected));
  }
}

}  // namespace posbench
