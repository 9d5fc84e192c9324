#include "encodings/aliases.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "encodings/methods.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// Returns the aliases of each encoding by its registered name.
std::map<std::string, std::vector<std::string>>& aliases() {
  static std::map<std::string, std::vector<std::string>> aliases;
  return aliases;
}

/// Returns the options of each alias that has some.
std::map<std::string, std::string>& alias_options() {
  static std::map<std::string, std::string> options;
  return options;
}

}  // namespace

RegisterAliases::RegisterAliases(const std::string& encoding, const std::vector<std::string>& names) {
  std::vector<std::string>& all = aliases()[encoding];
  all.insert(all.end(), names.begin(), names.end());
}

RegisterMethods::RegisterMethods(const std::string& encoding, const std::map<std::string, std::string>& methods) {
  for (const auto& [name, options] : methods) {
    aliases()[encoding].push_back(name);
    alias_options()[name] = options;
  }
}

std::string options_of_alias(std::string_view alias) {
  const auto found = alias_options().find(lower_case(alias));
  return found == alias_options().end() ? "" : found->second;
}

std::vector<std::string> encodings_called(std::string_view alias) {
  const std::string lower = lower_case(alias);
  std::vector<std::string> found;
  for (const auto& [encoding, names] : aliases()) {
    if (std::ranges::find(names, lower) != names.end()) found.push_back(encoding);
  }
  return found;
}

std::vector<std::string> aliases_of(const std::string& encoding) {
  const auto found = aliases().find(encoding);
  return found == aliases().end() ? std::vector<std::string>{} : found->second;
}

std::vector<std::string> unique_aliases() {
  std::map<std::string, int> counts;
  for (const auto& [encoding, names] : aliases()) {
    for (const std::string& name : names) ++counts[name];
  }
  std::vector<std::string> unique;
  for (const auto& [name, count] : counts) {
    if (count == 1) unique.push_back(name);
  }
  return unique;
}

}  // namespace posbench::inline POSBENCH_REAL
