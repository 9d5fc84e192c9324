// Defines registries of entries by name: tasks, encodings, blocks and optimizers.
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/options.h"
#include "base/spec.h"
#include "base/text.h"

namespace posbench {

/// Stores entries by name, in alphabetical order. `kind` ("encoding") is the noun for an entry in messages, and
/// `shown_by` the command that shows all of them, if it is not `list`.
template <class Entry>
class Registry {
 public:
  /// `other_names` returns further names that a message may suggest.
  explicit Registry(std::string kind, std::vector<std::string> (*other_names)() = nullptr,
                    std::string shown_by = "")
      : kind_(std::move(kind)), other_names_(other_names), shown_by_(std::move(shown_by)) {
    if (shown_by_.empty()) shown_by_ = fmt::format("posbench list {}s", kind_);
  }

  /// Throws std::logic_error if the name is empty or taken.
  void add(std::string name, Entry entry) {
    if (name.empty()) throw std::logic_error(fmt::format("this {} is registered without a name", kind_));
    if (contains(name)) {
      throw std::logic_error(
          fmt::format("{} '{}' is registered twice; the .name of each registration must differ", kind_, name));
    }
    entries_.emplace(std::move(name), std::move(entry));
  }

  bool contains(std::string_view name) const { return entries_.find(name) != entries_.end(); }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries_) names.push_back(name);
    return names;
  }

  /// Throws InputError, with the nearest known name, if the name is unknown.
  const Entry& find(std::string_view name) const {
    const auto found = entries_.find(name);
    if (found != entries_.end()) return found->second;
    std::vector<std::string> known = names();
    if (other_names_) {
      const std::vector<std::string> others = other_names_();
      known.insert(known.end(), others.begin(), others.end());
    }
    throw InputError(
        fmt::format("unknown {} '{}'{} ('{}' shows all)", kind_, name, did_you_mean(name, known), shown_by_));
  }

 private:
  std::string kind_;
  std::vector<std::string> (*other_names_)();
  std::string shown_by_;
  std::map<std::string, Entry, std::less<>> entries_;
};

/// Throws std::logic_error if a registration lacks a field. `kind` is "encoding".
inline void require_field(const std::string& kind, const std::string& name, const std::string& field,
                          bool is_given) {
  if (is_given) return;
  throw std::logic_error(
      fmt::format("the registration of {} '{}' has no {}; add .{} to it", kind, name, field, field));
}

/// Runs a registration before main(). If it is invalid, the program prints one line and exits with code 3.
template <class Registration>
void register_or_exit(Registration registration) {
  try {
    registration();
  } catch (const std::logic_error& error) {
    fmt::print(stderr, "posbench: {}\n", error.what());
    std::_Exit(3);
  }
}

/// Returns the options that a spec sets; the others keep their defaults.
template <class Options>
Options read_options(const Spec& spec, const std::string& kind) {
  Options options;
  OptionTable table;
  options.describe(table);
  for (const auto& [name, text] : spec.options) table.set(name, text, fmt::format("{} '{}'", kind, spec.name));
  return options;
}

/// The options of an entry without options.
struct NoOptions {
  void describe(OptionTable&) {}
};

/// The description of one option that `list` and `show` print.
struct OptionInfo {
  std::string name;
  OptionType type;
  std::string value, expected, help;  // value: the default
};

template <class Options>
std::vector<OptionInfo> list_options() {
  Options options;
  OptionTable table;
  options.describe(table);
  std::vector<OptionInfo> infos;
  for (const Option& o : table.all()) infos.push_back({o.name, o.type, o.get(), o.expected, o.help});
  return infos;
}

/// Returns the canonical form of a spec: options in the order of their table, without those that have their
/// default.
template <class Options>
Spec make_canonical(const Spec& spec, const std::string& kind) {
  Options options = read_options<Options>(spec, kind), defaults;
  OptionTable table, default_table;
  options.describe(table);
  defaults.describe(default_table);
  Spec result{spec.name, {}};
  for (size_t i = 0; i < table.all().size(); ++i) {
    const std::string value = table.all()[i].get();
    if (value != default_table.all()[i].get()) result.options.emplace_back(table.all()[i].name, value);
  }
  return result;
}

}  // namespace posbench
