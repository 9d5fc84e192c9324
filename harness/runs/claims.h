// The claims that the program was built with (results/claims), and the runs that judge them.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "harness/runs/config.h"
#include "results/reports/claim_json.h"

namespace posbench {

/// Sorted by name.
const std::vector<ClaimFile>& claim_files();

/// One encoding on one task, with all seeds that any claim needs. Claims of equal settings share it.
struct ClaimRun {
  std::string name;  // of its run directory: task, encoding, and a hash of the settings
  Config config;
};

struct ClaimPlan {
  std::vector<Claim> claims;   // at this size: with the runs of their cells
  std::vector<ClaimRun> runs;  // that they need, in the order of their names
};

/// The claims with these names, or all if there are none. Their runs do not depend on which are chosen. Throws
/// std::invalid_argument.
ClaimPlan plan_claims(const std::vector<std::string>& names, ClaimSize);

/// The results for these claims in the run directories under `directory`; runs that are missing or not finished are
/// left out. Throws std::invalid_argument if a report cannot be read or has other settings.
AllEvidence collect_evidence(const ClaimPlan&, const std::filesystem::path& directory);

}  // namespace posbench
