#include "harness/runs/confirmation.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/sha256.h"
#include "harness/config/embedded_data.h"

namespace posbench {

std::string claim_hash(const Claim& claim, ClaimSize size) {
  Json text = parse_json(claim_texts().at(claim.name), claim.name + ".json");
  text.erase("confirm");
  std::string hashed = to_compact_json(text);
  for (ClaimRun& run : plan_claims({claim.name}, size).runs) {
    run.config.seeds.clear();
    hashed += "\n" + to_compact_json(to_json(run.config));
  }
  return sha256(hashed).substr(0, 16);
}

std::vector<std::string> registered_claims(const std::vector<std::string>& patterns, bool only_open) {
  std::vector<std::string> names, others;
  for (const Claim& claim : plan_claims(patterns, ClaimSize::confirmation).claims) {
    const bool is_confirmed = stored_claims(ClaimSize::confirmation).results.contains(claim.name);
    (claim.confirm && !(only_open && is_confirmed) ? names : others).push_back(claim.name);
  }
  if (names.empty()) {
    throw InputError(fmt::format(
        "{} has no registered confirmation; 'posbench reproduce --confirm --list' shows the claims that have one",
        others.size() == 1 ? others.front() : "none of these claims"));
  }
  return names;
}

void check_frozen(const std::vector<Claim>& claims) {
  for (const Claim& claim : claims) {
    const std::string hash = claim_hash(claim);
    if (hash != claim.confirm->claim) {
      throw InputError(
          fmt::format("{}: the claim or its settings have changed since they were frozen at {} (hash {}, now {}); "
                      "build the commit that registered them",
                      claim.name, claim.confirm->frozen, claim.confirm->claim, hash));
    }
    const bool is_confirmed = stored_claims(ClaimSize::confirmation).results.contains(claim.name);
    if (!is_confirmed && claim_rules_hash() != claim.confirm->rules) {
      throw InputError(fmt::format(
          "{}: the rules that judge claims have changed since they were frozen at {} (hash {}, now {}); "
          "build the commit that registered them",
          claim.name, claim.confirm->frozen, claim.confirm->rules, claim_rules_hash()));
    }
  }
}

void check_not_confirmed(const std::vector<Claim>& claims) {
  for (const Claim& claim : claims) {
    const auto& results = stored_claims(ClaimSize::confirmation).results;
    if (const auto found = results.find(claim.name); found != results.end()) {
      throw InputError(
          fmt::format("{} has its confirmation already: {}; a claim is confirmed once ('posbench show "
                      "{}' has the result)",
                      claim.name, to_string(found->second.verdict), claim.name));
    }
  }
}

}  // namespace posbench
