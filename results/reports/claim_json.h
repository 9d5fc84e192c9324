// Claims as files, and their verdicts as JSON: results/data/claims.schema.json.
#pragma once
#include <map>
#include <span>
#include <string>

#include "results/json/json.h"
#include "results/statistics/claims.h"

namespace posbench {

enum class ClaimSize { reduced, full };

/// The runs of a claim at one size.
struct ClaimSetting {
  std::string profile;     // where the configuration starts
  Json config;             // over the profile: sections model, training, evaluation, splits, overrides
  int seeds = 0;           // of each encoding
  std::string differs;     // from the source
  bool comparable = true;  // if not, there is nothing to run, and `differs` has the reason
};

struct ClaimFile {
  Claim claim;                                                    // the fields that do not depend on the size
  std::map<std::string, std::map<ClaimSize, std::string>> tasks;  // by the names in the rules: their specs
  std::map<ClaimSize, ClaimSetting> settings;
};

/// `name` is the claim's and the file's, without .json. Throws InputError, with file and JSON path.
ClaimFile read_claim(const Json&, const std::string& name);

/// The claims that were judged at one size, their verdicts, and the evidence for them.
Json to_json(std::span<const Claim>, std::span<const ClaimResult>, const AllEvidence&, ClaimSize, double alpha);
/// Reads the `evidence` that to_json() wrote.
AllEvidence read_evidence(const Field&);

std::string to_string(ClaimSize);

}  // namespace posbench
