#include "harness/runs/page_options.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "harness/config/embedded_data.h"
#include "results/json/checksum.h"
#include "results/json/json.h"

namespace posbench {
namespace {

std::string registered_name(const std::string& encoding) {
  return encoding.substr(0, std::min(encoding.find_first_of(": "), encoding.find("->")));
}

/// Returns the encodings of the default profile, which are on most pages, then all others.
std::vector<std::string> names_by_style() {
  std::vector<std::string> names = parse_json(profiles().at("quick"), "quick")["encodings"];
  for (const std::string& name : encodings().names()) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace

int style_of(const std::string& encoding) {
  static const std::vector<std::string> kNames = names_by_style();
  const auto found = std::ranges::find(kNames, registered_name(encoding));
  const auto number = static_cast<int>(found - kNames.begin());
  if (found != kNames.end()) return number;
  constexpr std::uint32_t kOthers = 1000;  // by name, so that an encoding of the user has one style on all pages
  return number + static_cast<int>(crc32_after(0, encoding) % kOthers);
}

std::string family_of(const std::string& encoding) {
  const std::string name = registered_name(encoding);
  return encodings().contains(name) ? to_string(encodings().find(name).info.family) : "other";
}

PageOptions page_options() { return {.family = family_of, .style = style_of}; }

}  // namespace posbench
