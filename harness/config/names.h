// Finds tasks and encodings by the names that users write, regardless of case: `CoPE`, `Randomized:base=ROPE`.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/spec.h"
#include "harness/training/task_setup.h"
#include "tasks/task.h"

namespace posbench {

/// Return the registered name that equals the text regardless of case. Return the text if there is none, or if
/// several names differ only in case. An encoding is also found by its alias. Throws InputError if several
/// encodings have that alias.
std::string task_name(const std::string& text);
std::string encoding_name(const std::string& text);

/// Returns the spec in its canonical form. Throws InputError, with the nearest known name, for an unknown name,
/// option or setting.
TaskSpec read_task(const std::string& text);
Spec read_encoding(const std::string& text);

/// Returns the value of extend.encodings with registered names.
std::string named_extensions(const std::string& list);

/// Returns the names that match a pattern of the shell, regardless of case.
std::vector<std::string> matching(const std::string& pattern, const std::vector<std::string>& names);

/// Returns the aspect that an item such as "aspect:recall" names; empty if it names none. Throws InputError for
/// "aspect:recal".
std::optional<Aspect> read_aspect(const std::string& item);

/// Returns whether an item of a list selects a spec: "all", the spec, also without " (REPORT)", its name without
/// options, a pattern, or for tasks an ability that they test, as in "aspect:recall". An aspect does not select
/// tasks marked control or open.
bool selects(const std::string& item, const std::string& spec);

/// Returns whether an item of a list selects specs by a pattern, an aspect or "all".
bool is_pattern(const std::string& item);

/// Return the specs that a comma-separated list of specs and patterns selects among the registered names, as in
/// "all,-dape*". A task that an aspect selects has the options of the spec with its name in `preferred`, if there
/// is one. Throw InputError if a name is unknown or nothing is selected.
std::vector<TaskSpec> select_tasks(const std::string& list, const std::vector<TaskSpec>& preferred = {});
std::vector<Spec> select_encodings(const std::string& list);

/// Returns the texts of specs of tasks or encodings.
template <class AnySpec>
std::vector<std::string> texts(const std::vector<AnySpec>& specs) {
  std::vector<std::string> texts;
  for (const AnySpec& spec : specs) texts.push_back(spec.text());
  return texts;
}

}  // namespace posbench
