#include "harness/check/oracles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/registry.h"

namespace posbench {
namespace {

std::map<std::string, Oracle>& all_oracles() {
  static std::map<std::string, Oracle> all;
  return all;
}

}  // namespace

bool Oracle::is_valid(const Spec& spec, const TaskInfo& info) const {
  std::set<std::string> known(valid_options_.begin(), valid_options_.end());
  known.insert("length");
  for (const TaskInfo::Split& split : info.splits) {
    for (const auto& [option, value] : split.options) known.insert(option);
  }
  const auto is_limited = [&](const std::string& name) {
    return std::ranges::any_of(valid_options_,
                               [&](const std::string& entry) { return entry.starts_with(name + "="); });
  };
  return std::ranges::all_of(spec.options, [&](const auto& option) {
    const auto& [name, value] = option;
    return known.contains(is_limited(name) ? name + "=" + value : name);
  });
}

const std::map<std::string, Oracle>& oracles() { return all_oracles(); }

void add_oracle(const std::string& task, Oracle oracle) {
  register_or_exit([&] {
    if (!all_oracles().emplace(task, std::move(oracle)).second)
      throw std::logic_error(fmt::format("the oracle of task '{}' is registered twice", task));
  });
}

}  // namespace posbench
