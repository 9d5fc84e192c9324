#include "harness/config/matched_compute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "harness/config/embedded_data.h"

namespace posbench {
namespace {

[[noreturn]] void refuse_encoding(const std::string& encoding, const std::string& base) {
  throw InputError(fmt::format(
      "the cost of '{0}' is not known, and matching compute needs it: measure it ('posbench bench -e {0} --sizes quick', x "
      "none) and add it to the configuration: {{\"match_compute\": {{\"base\": \"{1}\", \"costs\": {{\"{0}\": 1.5}}}}}}",
      encoding, base));
}

}  // namespace

void find_costs(MatchedCompute& match, const std::vector<Spec>& encodings) {
  const Costs& known = board_costs().costs;
  std::vector<std::string> needed{match.base};
  for (const Spec& encoding : encodings) needed.push_back(encoding.text());
  for (const std::string& encoding : needed) {
    if (match.costs.contains(encoding)) continue;
    const auto found = known.find(encoding);
    if (found == known.end()) refuse_encoding(encoding, match.base);
    match.costs[encoding] = found->second;
  }
}

int matched_steps(const MatchedCompute& match, int steps, const std::string& encoding) {
  constexpr double kMost = 100'000'000;  // as for training.steps
  if (!match.costs.contains(match.base)) refuse_encoding(match.base, match.base);
  const auto cost = match.costs.find(encoding);
  if (cost == match.costs.end()) refuse_encoding(encoding, match.base);
  return static_cast<int>(std::clamp(std::round(steps * match.costs.at(match.base) / cost->second), 1.0, kMost));
}

}  // namespace posbench
