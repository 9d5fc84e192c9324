#include "harness/config/sweep.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

constexpr std::string_view kTask = "task.", kEncoding = "encoding.";

bool is_of_encoding(const std::string& name) { return name.starts_with(kEncoding); }

Spec canonical_encoding(const Spec& spec) { return encodings().find(spec.name).canonical(spec); }

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

Spec whole(const Spec& encoding) { return encoding; }
Spec whole(const TaskSpec& task) { return task.whole(); }

/// Returns the specs at every point. `canonical` makes a spec of its name and all its options.
template <class AnySpec>
std::vector<SweptSpec<AnySpec>> expand(const std::vector<AnySpec>& specs, const Sweep& sweep,
                                       AnySpec (*canonical)(const Spec&)) {
  check_points(sweep);
  std::vector<SweptSpec<AnySpec>> expanded;
  std::set<std::string> known;
  for (const AnySpec& unswept : specs) {
    if (sweep.empty()) {
      expanded.push_back({unswept, unswept, {}});
      continue;
    }
    Spec base = whole(unswept);
    for (const auto& [name, values] : sweep) erase(base, option_name(name));
    Settings point;
    for_each_point(sweep, point, [&] {
      Spec spec = base;
      for (const auto& [name, value] : point) spec.options.emplace_back(option_name(name), option_value(value));
      expanded.push_back({canonical(spec), canonical(base), point});
      if (const std::string text = expanded.back().spec.text(); !known.insert(text).second)
        throw InputError(fmt::format("the sweep has '{}' twice; give each value once", text));
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

std::vector<SweptTask> swept_tasks(const RunConfig& config) {
  return expand(config.tasks, part(config, false), TaskSpec::of);
}

std::vector<SweptEncoding> swept_encodings(const RunConfig& config) {
  return expand(config.encodings, part(config, true), canonical_encoding);
}

std::optional<Swept> swept_values(const RunConfig& config, const SweptTask& task, const SweptEncoding& encoding) {
  if (config.sweep.empty()) return std::nullopt;
  Swept swept{.task = task.base.text(), .encoding = encoding.base.text()};
  for (const auto& [name, values] : config.sweep) {
    for (const auto& [of, value] : is_of_encoding(name) ? encoding.values : task.values) {
      if (of == name) swept.values.emplace_back(name, value);
    }
  }
  return swept;
}

}  // namespace posbench
