// Registered confirmations of claims, and `posbench reproduce --confirm`.
#include "harness/runs/confirmation.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/config/embedded_data.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/temporary.h"

using namespace posbench;

TEST_CASE("a claim is confirmed only as it was registered, and once") {
  Claim claim = claim_files().front().claim;
  const std::string hash = claim_hash(claim);
  CHECK(claim_hash(claim, ClaimSize::reduced) != claim_hash(claim, ClaimSize::full));  // other settings
  CHECK(claim_hash(claim_files().back().claim) != hash);
  claim.confirm = {"1a2b3c", hash, claim_rules_hash()};
  check_frozen({claim});
  claim.confirm = {"1a2b3c", "0123456789abcdef", claim_rules_hash()};
  CHECK_THROWS_WITH(check_frozen({claim}),
                    claim.name +
                        ": the claim or its settings have changed since they were frozen at 1a2b3c (hash "
                        "0123456789abcdef, now " +
                        hash + "); build the commit that registered them");
  claim.confirm = {"1a2b3c", hash, "0123456789abcdef"};
  CHECK_THROWS_WITH(check_frozen({claim}), claim.name +
                                               ": the rules that judge claims have changed since they "
                                               "were frozen at 1a2b3c (hash 0123456789abcdef, now " +
                                               claim_rules_hash() + "); build the commit that registered them");
  const TemporaryDirectory directory;
  CHECK(posbench_command(directory, "reproduce --confirm --full").error.find("--full excludes --confirm") !=
        std::string::npos);
  for (const bool confirmed : {false, true}) {
    const auto is_such = [&](const ClaimFile& each) {
      return each.claim.confirm.has_value() == confirmed &&
             stored_claims(ClaimSize::confirmation).results.contains(each.claim.name) == confirmed;
    };
    const auto example = std::ranges::find_if(claim_files(), is_such);
    if (example == claim_files().end()) continue;
    CAPTURE(example->claim.name);
    const Outcome outcome = posbench_command(directory, "reproduce --confirm --dry-run " + example->claim.name);
    CHECK(outcome.code == 2);
    CHECK(outcome.error.find(confirmed ? "has its confirmation already" : "has no registered confirmation") !=
          std::string::npos);
  }
}

TEST_CASE("reproduce --confirm --list has the exploration and the confirmation of each registered claim") {
  const TemporaryDirectory directory;
  const Json rows = Json::parse(posbench_command(directory, "reproduce --confirm --list --format json").out);
  size_t registered = 0;
  for (const ClaimFile& file : claim_files()) registered += file.claim.confirm.has_value();
  CHECK(rows.size() == registered);
  for (const Json& row : rows) {
    const auto file = std::ranges::find(claim_files(), row.at("claim"),
                                        [](const ClaimFile& each) { return Json(each.claim.name); });
    REQUIRE(file != claim_files().end());
    CAPTURE(file->claim.name);
    CHECK(row.at("exploration") == to_string(stored_result(*file, ClaimSize::reduced).verdict));
    CHECK(row.at("confirmation") == to_string(stored_result(*file, ClaimSize::confirmation).verdict));
    CHECK(row.at("claim hash") == file->claim.confirm->claim);
    CHECK(file->settings.at(ClaimSize::confirmation).seeds == "1000..1017");  // no hash has the seeds
  }
}
