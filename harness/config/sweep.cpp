#include "harness/config/sweep.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "encodings/registry.h"
#include "harness/training/task_setup.h"

namespace posbench {
namespace {

constexpr std::string_view kTask = "task.", kEncoding = "encoding.";

bool is_of_encoding(const std::string& name) { return name.starts_with(kEncoding); }

std::string canonical_encoding(const Spec& spec) { return encodings().find(spec.name).canonical(spec).text(); }

/// Returns the name in the options of a spec. Settings keep their dot.
std::string option_name(const std::string& name) {
  if (name.starts_with(kTask)) return name.substr(kTask.size());
  return is_of_encoding(name) ? name.substr(kEncoding.size()) : name;
}

/// Returns a value as the options of a spec have it: without the parentheses around it.
std::string option_value(const std::string& value) {
  return value.starts_with('(') ? Spec::parse("any:option=" + value).options.front().second : value;
}

void erase(Spec& spec, const std::string& option) {
  std::erase_if(spec.options, [&](const auto& each) { return each.first == option; });
}

/// Calls f with each point of the grid. The first name varies slowest.
template <class F>
void for_each_point(const Sweep& sweep, Settings& point, F f) {
  if (point.size() == sweep.size()) return f();
  const auto& [name, values] = sweep[point.size()];
  for (const std::string& value : values) {
    point.emplace_back(name, value);
    for_each_point(sweep, point, f);
    point.pop_back();
  }
}

/// Refuses a grid that would take gigabytes, before it is expanded.
void check_points(const Sweep& sweep) {
  constexpr size_t kMost = 4'000'000;
  size_t points = 1;
  for (const auto& [name, values] : sweep) {
    points *= values.size();
    if (points > kMost)
      throw InputError(fmt::format("the sweeps up to '{}' have {} points, expected up to {}; sweep fewer values",
                                   name, points, kMost));
  }
}

template <class Canonical>
std::vector<SweptSpec> expand(const std::vector<std::string>& specs, const Sweep& sweep, Canonical canonical) {
  check_points(sweep);
  std::vector<SweptSpec> expanded;
  std::set<std::string> known;
  for (const std::string& text : specs) {
    Spec base = Spec::parse(text);
    for (const auto& [name, values] : sweep) erase(base, option_name(name));
    Settings point;
    for_each_point(sweep, point, [&] {
      Spec spec = base;
      for (const auto& [name, value] : point) spec.options.emplace_back(option_name(name), option_value(value));
      expanded.push_back({canonical(spec), canonical(base), point});
      if (!known.insert(expanded.back().spec).second)
        throw InputError(fmt::format("the sweep has '{}' twice; give each value once", expanded.back().spec));
    });
  }
  return expanded;
}

Sweep part(const RunConfig& config, bool of_encodings) {
  Sweep sweep = config.sweep;
  std::erase_if(sweep, [&](const auto& each) { return is_of_encoding(each.first) != of_encodings; });
  return sweep;
}

}  // namespace

std::vector<SweptSpec> swept_tasks(const RunConfig& config) {
  return expand(config.tasks, part(config, false),
                [](const Spec& spec) { return TaskSpec::parse(spec.text()).text(); });
}

std::vector<SweptSpec> swept_encodings(const RunConfig& config) {
  return expand(config.encodings, part(config, true), canonical_encoding);
}

std::optional<Swept> swept_values(const RunConfig& config, const SweptSpec& task, const SweptSpec& encoding) {
  if (config.sweep.empty()) return std::nullopt;
  Swept swept{.task = task.base, .encoding = encoding.base};
  for (const auto& [name, values] : config.sweep) {
    for (const auto& [of, value] : is_of_encoding(name) ? encoding.values : task.values) {
      if (of == name) swept.values.emplace_back(name, value);
    }
  }
  return swept;
}

}  // namespace posbench
