// Defines options: named values of a plain struct that a user may set as text. Encodings, tasks and the sections
// of a configuration describe their options in one function each:
//
//   struct Options {
//     int buckets = 32;
//     void describe(OptionTable& o) { o.integer("buckets", buckets, 2, 4096, "buckets of distances"); }
//   };
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/enum_names.h"
#include "base/random.h"
#include "base/spec.h"

namespace posbench {

/// A set of integers to draw from: a value `32`, an interval `1..40`, or a list `21/30/40`.
class Integers {
 public:
  Integers(int value) : values_{value} {}
  Integers(int low, int high);

  int draw(Rng& rng) const { return values_[uniform(rng, 0, static_cast<int>(values_.size()) - 1)]; }
  int min() const;
  int max() const;
  const std::vector<int>& values() const { return values_; }
  std::string text() const;
  /// Returns false if the text has none of the three forms.
  static bool parse(std::string_view text, Integers& value);

 private:
  std::vector<int> values_;
};

enum class OptionType { integer, number, numbers, flag, integers, text, choice };
const EnumNames<OptionType>& names_of(OptionType);

/// One option, bound to the variable that it sets.
struct Option {
  std::string name;
  OptionType type;
  std::string expected, help;                 // expected: "an integer from 2 to 4096"
  std::function<std::string()> get;           // the current value, as a user would write it
  std::function<bool(std::string_view)> set;  // returns false if the text is not what is expected
  bool omit_default = false;                  // a configuration in JSON omits the default
  std::string alias = "";                     // another name that set() accepts

  bool is_called(std::string_view text) const { return text == name || (!alias.empty() && text == alias); }
};

class OptionTable {
 public:
  void integer(std::string name, int& value, int low, int high, std::string help);
  void number(std::string name, double& value, double low, double high, std::string help);
  /// Adds one number or several different ones, as in `3e-4,1e-3`. They are sorted in ascending order.
  void numbers(std::string name, std::vector<double>& values, double low, double high, std::string help);
  void flag(std::string name, bool& value, std::string help);
  void integers(std::string name, Integers& value, int low, int high, std::string help);
  void text(std::string name, std::string& value, std::string expected, std::string help);
  /// Pairs of (former name, current name) of choices. Former names are still valid.
  using Aliases = std::vector<std::pair<std::string, std::string>>;
  /// Adds an enumeration whose enumerators 0, 1, ... have these names.
  template <class Enum>
  void choice(std::string name, Enum& value, std::vector<std::string> names, std::string help,
              Aliases aliases = {}) {
    choice_index(
        std::move(name), std::move(names), std::move(help), std::move(aliases),
        [&value] { return static_cast<size_t>(value); }, [&value](size_t i) { value = static_cast<Enum>(i); });
  }
  /// Adds an enumeration with a table of names. The table must outlive this one.
  template <class Enum>
  void choice(std::string name, Enum& value, const EnumNames<Enum>& names, std::string help,
              Aliases aliases = {}) {
    choice_index(
        std::move(name), names.names(), std::move(help), std::move(aliases),
        [&value, &names] {
          return static_cast<size_t>(std::ranges::find(names.values(), value) - names.values().begin());
        },
        [&value, &names](size_t i) { value = names.values()[i]; });
  }
  /// Adds a choice among the entries of a registry, which may have options. The registry must outlive this table.
  template <class Registry>
  void entry(std::string name, Spec& value, const Registry& registry, std::string help) {
    entry_spec(std::move(name), value, registry.names(), std::move(help),
               [&registry](const Spec& spec) { return registry.find(spec.name).canonical(spec); });
  }

  /// Adds a list of such entries, one for each layer in turn. A list that repeats is stored once. A list that is
  /// longer than `layers` raises it to its length.
  template <class Registry>
  void pattern(std::string name, std::vector<Spec>& value, int& layers, const Registry& registry,
               std::string help) {
    spec_list(std::move(name), value, layers, registry.names(), std::move(help),
              [&registry](const Spec& spec) { return registry.find(spec.name).canonical(spec); });
  }
  /// Adds a set of names, as in `a,c`; `none` is the empty set. Each name has the variable that it sets.
  void subset(std::string name, std::vector<std::pair<std::string, bool*>> members, std::string help);

  /// Gives the last added option another name.
  void also_called(std::string alias) { options_.back().alias = std::move(alias); }
  /// Marks the last added option as newer than the first reports. JSON omits it while it has its default, so that
  /// old and new reports stay comparable.
  void omit_default() { options_.back().omit_default = true; }

  const std::vector<Option>& all() const { return options_; }

  /// Sets one option. Throws InputError if the name is unknown or the option does not accept the text. The message
  /// names `owner` ("encoding 'cope'").
  void set(std::string_view name, std::string_view text, const std::string& owner) const;

 private:
  void choice_index(std::string name, std::vector<std::string> names, std::string help, Aliases aliases,
                    std::function<size_t()> get, std::function<void(size_t)> set);
  void entry_spec(std::string name, Spec& value, std::vector<std::string> names, std::string help,
                  std::function<Spec(const Spec&)> canonical);
  void spec_list(std::string name, std::vector<Spec>& value, int& layers, std::vector<std::string> names,
                 std::string help, std::function<Spec(const Spec&)> canonical);
  std::vector<Option> options_;
};

}  // namespace posbench
