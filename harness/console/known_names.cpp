#include "harness/console/known_names.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "encodings/registry.h"
#include "harness/config/config.h"
#include "harness/config/embedded_data.h"
#include "tasks/registry.h"

namespace posbench {

std::vector<std::string> known_names(bool with_profiles) {
  std::vector<std::string> names = encodings().names();
  const std::vector<std::string> task_names = tasks().names();
  names.insert(names.end(), task_names.begin(), task_names.end());
  if (!with_profiles) return names;
  for (const auto& [name, json] : profiles()) names.push_back(name);
  return names;
}

void refuse_unknown_name(const std::string& name) {
  throw InputError(
      fmt::format("no encoding, task or profile is called '{}'{} ('posbench list encodings', 'list tasks' and "
                  "'list profiles' show all)",
                  name, did_you_mean(name, known_names(/*with_profiles=*/true))));
}

std::vector<OptionInfo> all_settings() {
  std::vector<OptionInfo> infos;
  const auto add = [&](const std::string& section, auto options) {
    OptionTable table;
    options.describe(table);
    for (const Option& o : table.all())
      infos.push_back({section + "." + o.name, o.type, o.get(), o.expected, o.help});
  };
  add("model", ModelOptions{});
  add("training", TrainingOptions{});
  add("evaluation", EvaluationOptions{});
  add("extend", ExtendOptions{});
  return infos;
}

}  // namespace posbench
