#include "harness/console/known_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "encodings/aliases.h"
#include "encodings/registry.h"
#include "harness/config/config.h"
#include "harness/config/embedded_data.h"
#include "harness/console/read_board.h"
#include "harness/training/samples.h"
#include "results/statistics/claims.h"
#include "results/statistics/comparison.h"
#include "results/types/metric.h"
#include "tasks/registry.h"

namespace posbench {

std::vector<std::string> checkable_names() {
  std::vector<std::string> names = encodings().names_with_presets();
  for (const std::vector<std::string>& others : {unique_aliases(), tasks().names()})
    names.insert(names.end(), others.begin(), others.end());
  return names;
}

std::vector<std::string> explained_names() {
  std::vector<std::string> names = checkable_names();
  for (const auto& [name, json] : profiles()) names.push_back(name);
  const std::vector<std::string> splits = split_names();
  names.insert(names.end(), splits.begin(), splits.end());
  for (const OptionInfo& setting : all_settings()) names.push_back(setting.name);
  for (const MetricInfo& metric : metrics()) names.push_back(metric.name);
  for (const auto& [name, json] : claim_texts()) names.push_back(name);
  for (const ClaimVerdict verdict : kClaimVerdicts) names.push_back(word_of(verdict));
  for (const Verdict verdict : kVerdicts) {
    std::string name = to_string(verdict);
    std::ranges::replace(name, ' ', '_');  // a shell completes words without spaces
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::vector<std::string> split_names() {
  std::set<std::string> splits{kShift};
  for (const std::string& task : tasks().names()) {
    for (const TaskInfo::Split& split : tasks().find(task).info.splits) splits.insert(split.name);
  }
  return {splits.begin(), splits.end()};
}

void refuse_recurrent_block(const std::string& name) {
  const std::string block = lower_case(name);
  if (!is_recurrent_block(block)) return;
  throw InputError(fmt::format(
      "'{0}' is a layer in place of attention (model.block={0}), not an encoding; 'posbench board -e {0}' "
      "shows its results",
      block));
}

void refuse_unknown_name(const std::string& name) {
  throw InputError(fmt::format(
      "no encoding, task, profile, split, setting, metric, claim, aspect, verdict or model is called '{}'{} ('posbench list "
      "encodings', 'list tasks', 'list profiles', 'list settings' and 'reproduce --list' show names)",
      name, did_you_mean(name, explained_names())));
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
