#include "harness/commands/forms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "encodings/registry.h"
#include "harness/config/names.h"
#include "harness/runs/run_record.h"
#include "tasks/registry.h"

namespace posbench {

Subject subject_of(const std::string& argument) {
  namespace fs = std::filesystem;
  const std::string name = argument.substr(0, argument.find(':'));
  const bool is_encoding = encodings().contains(encoding_name(name)), is_task = tasks().contains(task_name(name));
  std::error_code error;
  if (!is_encoding && !is_task) {
    const bool is_path = name.find('/') != name.npos || name.ends_with(".json") || name.ends_with(".safetensors");
    return is_path || fs::exists(argument, error) ? Subject::path : Subject::unknown;
  }
  const char* kind = is_encoding ? "an encoding" : "a task";
  if (fs::exists(fs::path(argument) / kManifestFile, error)) {
    throw InputError(fmt::format(
        "'{0}' is {1} and a run in this folder; write ./{0} for the run, or rename its folder", argument, kind));
  }
  return is_encoding ? Subject::encoding : Subject::task;
}

void check_options(const Command& command, const std::vector<Form>& forms, const Form& used) {
  for (const Form& form : forms) {
    for (const std::string& name : form.options) {
      if (command.find(name)->given().empty() || std::ranges::find(used.options, name) != used.options.end())
        continue;
      throw InputError(
          fmt::format("{} is an option of '{}', not of '{}'; leave it out", name, form.usage, used.usage));
    }
  }
}

std::string usages(const std::vector<Form>& forms) {
  std::vector<std::string> texts;
  for (const Form& form : forms) texts.push_back("'" + form.usage + "'");
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace posbench
