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
#include "harness/training/samples.h"
#include "model/block.h"
#include "results/statistics/claims.h"
#include "results/statistics/comparison.h"
#include "results/types/metric.h"
#include "tasks/registry.h"

namespace posbench {

namespace {

using NameList = std::vector<std::string>;

void append(NameList& names, const NameList& others) { names.insert(names.end(), others.begin(), others.end()); }

NameList encoding_names() {
  NameList names = unique_aliases();
  append(names, encodings().names_with_presets());
  return names;
}

NameList split_names() {
  std::set<std::string> splits{kShift, kPacked};
  for (const std::string& task : tasks().names()) {
    for (const TaskInfo::Split& split : tasks().find(task).info.splits) splits.insert(split.name);
  }
  return {splits.begin(), splits.end()};
}

/// Returns a name as a shell completes it, without spaces.
std::string one_word(std::string name) {
  std::ranges::replace(name, ' ', '_');
  return name;
}

template <class Map>
NameList keys(const Map& map) {
  NameList names;
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

NameList explained_names() {
  NameList names = known_names(ValueKind::subject);
  for (const ValueKind kind : {ValueKind::profile, ValueKind::split}) append(names, known_names(kind));
  for (const OptionInfo& setting : all_settings()) names.push_back(setting.name);
  for (const MetricInfo& metric : metrics()) names.push_back(metric.name);
  append(names, known_names(ValueKind::claim));
  for (const Term& term : glossary()) names.push_back(term.name);
  for (const Verdict verdict : kClaimVerdicts) names.push_back(word_of(verdict));
  for (const Verdict verdict : kComparisonVerdicts) {
    const std::string name = word_of(verdict);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace

std::vector<std::string> known_names(ValueKind kind) {
  NameList names;
  switch (kind) {
    case ValueKind::task:
      return tasks().names();
    case ValueKind::encoding:
      return encoding_names();
    case ValueKind::subject:
      names = encoding_names();
      append(names, tasks().names());
      return names;
    case ValueKind::explained:
      return explained_names();
    case ValueKind::profile:
      return keys(profiles());
    case ValueKind::split:
      return split_names();
    case ValueKind::setting:
      for (const OptionInfo& setting : all_settings()) names.push_back(setting.name + "=");
      return names;
    case ValueKind::aspect:
      for (const std::string& aspect : names_of(Aspect{}).names()) names.push_back(one_word(aspect));
      return names;
    case ValueKind::claim:
      return keys(claim_texts());
    default:
      return {};
  }
}

void refuse_unknown_name(const std::string& name) {
  if (const std::string block = lower_case(name); is_recurrent_block(block)) {
    throw InputError(fmt::format(
        "'{0}' is a layer in place of attention (model.block={0}), not an encoding; 'posbench board -e {0}' "
        "shows its results",
        block));
  }
  throw InputError(fmt::format(
      "no encoding, task, profile, split, setting, metric, claim, aspect, verdict or model is called '{}'{} ('posbench list "
      "encodings', 'list tasks', 'list profiles', 'list settings' and 'reproduce --list' show names)",
      name, did_you_mean(name, known_names(ValueKind::explained))));
}

std::vector<OptionInfo> all_settings() {
  std::vector<OptionInfo> infos;
  ExperimentOptions().for_each_section([&](const std::string& section, const OptionTable& table) {
    for (const Option& o : table.all())
      infos.push_back({section + "." + o.name, o.type, o.get(), o.expected, o.help});
  });
  return infos;
}

}  // namespace posbench
