#include "harness/config/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "encodings/aliases.h"
#include "encodings/methods.h"
#include "encodings/registry.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

Spec named_encoding(Spec spec);

const std::string kAspect = "aspect:";

bool is_all(const std::string& item) { return lower_case(item) == "all"; }

bool is_aspect(const std::string& item) { return lower_case(item).starts_with(kAspect); }

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
    if (lower_case(name) == lower_case(text)) alike.push_back(name);
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
  const std::string meant = options_of_alias(spec.name);
  spec.name = encoding_name(spec.name);
  if (!meant.empty()) {  // a method, whose options come before those that are given
    const Spec method = Spec::parse(spec.name + ":" + meant);
    spec.options.insert(spec.options.begin(), method.options.begin(), method.options.end());
  }
  if (!encodings().contains(spec.name)) return spec;
  for (const OptionInfo& option : encodings().find(spec.name).options) {
    for (auto& [key, value] : spec.options) {
      if (key == option.name && option.type == OptionType::text && !value.empty()) value = named_list(value);
    }
  }
  return spec;
}

bool is_same(const Spec& a, const Spec& b) { return a.name == b.name && a.options == b.options; }
bool is_same(const TaskSpec& a, const TaskSpec& b) { return is_same(a.task, b.task) && a.settings == b.settings; }

const std::string& name_of(const Spec& spec) { return spec.name; }
const std::string& name_of(const TaskSpec& spec) { return spec.task.name; }

/// A list selects among these: tasks or encodings.
template <class AnySpec>
struct Known {
  const char* kind;
  std::vector<std::string> names;
  AnySpec (*read)(const std::string&);
};

/// Returns the specs that an item of a list selects. An aspect selects the `preferred` spec of a task if there is
/// one.
template <class AnySpec>
std::vector<AnySpec> selected_by(const std::string& item, const Known<AnySpec>& known,
                                 const std::vector<AnySpec>& preferred) {
  if (!is_pattern(item)) return {known.read(item)};
  std::vector<AnySpec> matches;
  for (const std::string& name : known.names) {
    if (!selects(item, name)) continue;
    const auto spec = std::ranges::find(preferred, name, [](const AnySpec& each) { return name_of(each); });
    matches.push_back(is_aspect(item) && spec != preferred.end() ? *spec : known.read(name));
  }
  if (matches.empty())
    throw InputError(fmt::format("'{0}' matches no {1} ('posbench list {1}s' shows all)", item, known.kind));
  return matches;
}

template <class AnySpec>
std::vector<AnySpec> select(const std::string& list, const Known<AnySpec>& known,
                            const std::vector<AnySpec>& preferred = {}) {
  std::vector<AnySpec> selected;
  for (std::string item : split_specs(list)) {
    const bool exclude = item.starts_with('-');
    if (exclude) item.erase(0, 1);
    for (const AnySpec& match : selected_by(item, known, preferred)) {
      if (exclude) {
        const std::string text = match.text();
        std::erase_if(selected, [&](const AnySpec& spec) {
          return selects(item, spec.text()) || selects(text, spec.text());
        });
      } else if (std::ranges::none_of(selected, [&](const AnySpec& spec) { return is_same(spec, match); })) {
        selected.push_back(match);
      }
    }
  }
  if (selected.empty()) throw InputError(fmt::format("'{}' selects no {}", list, known.kind));
  return selected;
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
  return TaskSpec::of(spec);
}

Spec read_encoding(const std::string& text) {
  const Spec spec = named_encoding(Spec::parse(text));
  return encodings().find(spec.name).canonical(spec);
}

std::vector<std::string> matching(const std::string& pattern, const std::vector<std::string>& names) {
  std::vector<std::string> matches;
  std::ranges::copy_if(names, std::back_inserter(matches), [&](const std::string& name) {
    return fnmatch(pattern.c_str(), name.c_str(), FNM_CASEFOLD) == 0;
  });
  return matches;
}

std::optional<Aspect> read_aspect(const std::string& item) {
  if (!is_aspect(item)) return std::nullopt;
  const std::string given = item.substr(kAspect.size());
  std::string name = lower_case(given);
  std::ranges::replace(name, '_', ' ');
  const EnumNames<Aspect>& aspects = names_of(Aspect{});
  if (const std::optional<Aspect> aspect = aspects.find(name)) return aspect;
  throw InputError(fmt::format("unknown aspect '{}'{} (aspects: {})", given, did_you_mean(name, aspects.names()),
                               fmt::join(aspects.names(), ", ")));
}

bool is_pattern(const std::string& item) {
  return is_all(item) || is_aspect(item) || item.find_first_of("*?[") < item.find(':');
}

bool selects(const std::string& item, const std::string& spec) {
  const std::string without_report = spec.substr(0, spec.find(" (")), name = spec_name(without_report);
  return item == spec || is_all(item) || tests_aspect(item, name) ||
         !matching(item, {spec, without_report, name}).empty();
}

std::vector<TaskSpec> select_tasks(const std::string& list, const std::vector<TaskSpec>& preferred) {
  return select<TaskSpec>(list, {"task", tasks().names(), read_task}, preferred);
}

std::vector<Spec> select_encodings(const std::string& list) {
  return select<Spec>(list, {"encoding", encodings().names(), read_encoding});
}

}  // namespace posbench
