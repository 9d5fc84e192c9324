// Defines the table of the names of an enumeration. Options, messages and JSON all read this one table.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posbench {

/// The name of each enumerator, in the order in which options list them. A function `names_of` beside the
/// enumeration returns it:
///
///   enum class Fill { first, last };
///   const EnumNames<Fill>& names_of(Fill) {
///     static const EnumNames<Fill> names{{Fill::first, "first"}, {Fill::last, "last"}};
///     return names;
///   }
template <class Enum>
class EnumNames {
 public:
  EnumNames(std::initializer_list<std::pair<Enum, const char*>> rows) {
    for (const auto& [value, name] : rows) {
      values_.push_back(value);
      names_.emplace_back(name);
    }
  }

  const std::vector<Enum>& values() const { return values_; }
  const std::vector<std::string>& names() const { return names_; }

  /// Returns names with their enumerators.
  std::vector<std::pair<std::string, Enum>> rows() const {
    std::vector<std::pair<std::string, Enum>> rows;
    for (std::size_t i = 0; i < names_.size(); ++i) rows.emplace_back(names_[i], values_[i]);
    return rows;
  }

  /// Throws std::logic_error for an enumerator without a name.
  const std::string& name(Enum value) const {
    const auto found = std::ranges::find(values_, value);
    if (found == values_.end()) throw std::logic_error("an enumerator has no name");
    return names_[static_cast<std::size_t>(found - values_.begin())];
  }
  /// Returns the enumerator with this name, or nothing.
  std::optional<Enum> find(std::string_view name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) return std::nullopt;
    return values_[static_cast<std::size_t>(found - names_.begin())];
  }

 private:
  std::vector<Enum> values_;
  std::vector<std::string> names_;
};

template <class Enum>
concept HasNames = requires(Enum value) {
  { names_of(value) } -> std::same_as<const EnumNames<Enum>&>;
};

template <HasNames Enum>
const std::string& to_string(Enum value) {
  return names_of(value).name(value);
}

}  // namespace posbench
