#include "harness/config/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "encodings/aliases.h"
#include "encodings/registry.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

bool same_but_for_case(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

Spec named_encoding(Spec spec);

const std::string kAspect = "aspect:";

bool is_all(const std::string& item) { return same_but_for_case(item, "all"); }

bool is_aspect(const std::string& item) { return same_but_for_case(item.substr(0, kAspect.size()), kAspect); }

bool is_pattern(const std::string& item) {
  return is_all(item) || is_aspect(item) || item.find_first_of("*?[") < item.find(':');
}

/// Returns true if the item names an ability that a task tests. A marked task does not count, as in the scores of
/// aspects.
bool tests_aspect(const std::string& item, const std::string& task) {
  const std::optional<Aspect> aspect = read_aspect(item);
  if (!aspect || !tasks().contains(task)) return false;
  const TaskInfo& info = tasks().find(task).info;
  return info.learnability == Learnability::learnable && std::ranges::count(info.aspects, *aspect) > 0;
}

template <class Entry>
std::string registered(const Registry<Entry>& registry, const std::string& text) {
  if (registry.contains(text)) return text;
  std::vector<std::string> alike;
  for (const std::string& name : registry.names()) {
    if (same_but_for_case(name, text)) alike.push_back(name);
  }
  return alike.size() == 1 ? alike.front() : text;
}

/// Returns the specs of a list with registered names, if all are specs of encodings. Returns the text if not.
std::string named_list(const std::string& text) {
  std::vector<std::string> specs;
  for (const std::string& piece : split_specs(text)) {
    const bool is_enclosed = piece.size() > 1 && piece.front() == '(' && piece.back() == ')';
    const std::string inner = is_enclosed ? piece.substr(1, piece.size() - 2) : piece;
    if (!encodings().contains(encoding_name(inner.substr(0, inner.find(':'))))) return text;
    const std::string named = named_encoding(Spec::parse(inner)).text();
    specs.push_back(is_enclosed ? "(" + named + ")" : named);
  }
  return fmt::format("{}", fmt::join(specs, ","));
}

/// Replaces the names of the encoding and of the encodings that it wraps by registered names.
Spec named_encoding(Spec spec) {
  spec.name = encoding_name(spec.name);
  if (!encodings().contains(spec.name)) return spec;
  for (const OptionInfo& option : encodings().find(spec.name).options) {
    for (auto& [key, value] : spec.options) {
      if (key == option.name && option.type == "text" && !value.empty()) value = named_list(value);
    }
  }
  return spec;
}

/// Returns the specs that an item of a list selects, among all names of its kind. An aspect selects the
/// `preferred` spec of a task if there is one.
std::vector<std::string> selected_by(const std::string& item, const std::string& kind,
                                     const std::vector<std::string>& preferred = {}) {
  const bool of_tasks = kind == "task";
  if (!is_pattern(item)) return {of_tasks ? read_task(item).text() : read_encoding(item).text()};
  const std::vector<std::string> names = of_tasks ? tasks().names() : encodings().names();
  std::vector<std::string> matches;
  std::ranges::copy_if(names, std::back_inserter(matches),
                       [&](const std::string& name) { return selects(item, name); });
  if (matches.empty()) {
    throw InputError(fmt::format("'{0}' matches no {1} ('posbench list {1}s' shows all)", item, kind));
  }
  if (!is_aspect(item)) return matches;
  for (std::string& match : matches) {
    const auto spec = std::ranges::find(preferred, match, spec_name);
    if (spec != preferred.end()) match = *spec;
  }
  return matches;
}

}  // namespace

std::string task_name(const std::string& text) { return registered(tasks(), text); }

std::string encoding_name(const std::string& text) {
  std::string name = registered(encodings(), text);
  if (encodings().contains(name)) return name;
  const std::vector<std::string> called = encodings_called(text);
  if (called.size() > 1) {
    throw InputError(
        fmt::format("'{}' can be any of the encodings {}; name one of them", text, fmt::join(called, ", ")));
  }
  return called.empty() ? text : called.front();
}

std::string named_extensions(const std::string& list) {
  std::vector<std::string> items;
  for (const std::string& item : split_specs(list)) {
    const size_t arrow = item.find("->");
    const std::string child = arrow == item.npos ? item : item.substr(arrow + 2);
    items.push_back(arrow == item.npos ? named_list(child)
                                       : named_list(item.substr(0, arrow)) + "->" + named_list(child));
  }
  return fmt::format("{}", fmt::join(items, ","));
}

TaskSpec read_task(const std::string& text) {
  if (read_aspect(text)) throw InputError(fmt::format("'{}' selects several tasks, expected one task", text));
  Spec spec = Spec::parse(text);
  spec.name = task_name(spec.name);
  return TaskSpec::parse(spec.text());
}

Spec read_encoding(const std::string& text) {
  const Spec spec = named_encoding(Spec::parse(text));
  return encodings().find(spec.name).canonical(spec);
}

std::vector<std::string> matching(const std::string& pattern, const std::vector<std::string>& names) {
  std::vector<std::string> matches;
  std::copy_if(names.begin(), names.end(), std::back_inserter(matches),
               [&](const std::string& name) { return fnmatch(pattern.c_str(), name.c_str(), FNM_CASEFOLD) == 0; });
  return matches;
}

std::optional<Aspect> read_aspect(const std::string& item) {
  if (!is_aspect(item)) return std::nullopt;
  const std::string given = item.substr(kAspect.size());
  std::string name = lower_case(given);
  std::ranges::replace(name, '_', ' ');
  std::vector<std::string> known;
  for (const Aspect aspect : kAspects) {
    known.push_back(to_string(aspect));
    if (known.back() == name) return aspect;
  }
  throw InputError(fmt::format("unknown aspect '{}'{} (aspects: {})", given, did_you_mean(name, known),
                               fmt::join(known, ", ")));
}

bool selects(const std::string& item, const std::string& spec) {
  return is_all(item) || tests_aspect(item, spec_name(spec)) || !matching(item, {spec, spec_name(spec)}).empty();
}

std::vector<std::string> select(const std::string& list, const std::string& kind,
                                const std::vector<std::string>& preferred) {
  std::vector<std::string> selected;
  for (std::string item : split_specs(list)) {
    const bool exclude = item.starts_with('-');
    if (exclude) item.erase(0, 1);
    for (const std::string& match : selected_by(item, kind, preferred)) {
      if (exclude) {
        std::erase_if(selected,
                      [&](const std::string& spec) { return selects(item, spec) || selects(match, spec); });
      } else if (std::ranges::find(selected, match) == selected.end()) {
        selected.push_back(match);
      }
    }
  }
  if (selected.empty()) throw InputError(fmt::format("'{}' selects no {}", list, kind));
  return selected;
}

std::vector<std::string> named_specs(const std::string& list, const std::string& kind) {
  std::vector<std::string> specs;
  for (const std::string& item : split_specs(list)) {
    if (item.starts_with('-') || is_pattern(item)) continue;
    for (std::string& spec : selected_by(item, kind)) specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace posbench
