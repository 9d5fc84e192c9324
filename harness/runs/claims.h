// Plans the runs that judge the claims of results/data/claims, and collects their results.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "harness/config/config.h"
#include "results/reports/claim_json.h"

namespace posbench {

/// Returns all claims, sorted by name.
const std::vector<ClaimFile>& claim_files();

/// Returns the results and the evidence of the runs that come with posbench.
const JudgedClaims& stored_claims(ClaimSize);
/// Returns the stored result of a claim. Its verdict is "not comparable" if no run can judge the claim at this
/// size, and "not run" if a run is missing. Each rule of the claim has a result.
ClaimResult stored_result(const ClaimFile&, ClaimSize);

/// One encoding on one task, with all seeds that any claim needs. Claims of equal settings share it.
struct ClaimRun {
  std::string name;  // of its run directory: task, encoding, and a hash of the settings
  RunConfig config;
};

struct ClaimPlan {
  std::vector<Claim> claims;   // with `run` set in each ClaimCell for this size
  std::vector<ClaimRun> runs;  // that the claims need, in the order of their names
};

/// Plans the claims that match one of the patterns ("cope-*"), or all claims if there are none. A run does not
/// depend on which claims are chosen. Each run has at least `seeds` seeds. Throws InputError if no claim matches a
/// pattern.
ClaimPlan plan_claims(const std::vector<std::string>& patterns, ClaimSize, int seeds = 0);

/// Sets training.reserve and evaluation.grid_rules of all runs of the plan as in the first of them that a
/// directory has, finished or not. Without such a run they are as in the profile. So older runs are judged,
/// continued and given more seeds as they were trained.
void follow_stored(ClaimPlan&, const std::vector<std::filesystem::path>& directories);

/// Returns a claim with its settings and `run` of each ClaimCell at a size.
Claim claim_at(const ClaimFile&, ClaimSize);

/// Reads the results for these claims from run directories. A run is read in the first directory that has all its
/// seeds, and may have more. Runs that are missing or unfinished are skipped. Throws InputError if a report is
/// invalid, has other settings than the plan, or has fewer seeds in the first directory.
AllEvidence collect_evidence(const ClaimPlan&, const std::vector<std::filesystem::path>& directories);

/// Removes the claims that are not comparable or have a run without evidence, and the runs and the evidence that
/// no other claim needs.
void keep_finished(ClaimPlan&, AllEvidence&);

}  // namespace posbench
