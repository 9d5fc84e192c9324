// Reads claims from their files, and writes verdicts as JSON (results/reports/claims.schema.json).
#pragma once
#include <map>
#include <span>
#include <string>

#include "results/json/json.h"
#include "results/statistics/claims.h"

namespace posbench {

/// The size of the models of a claim. A confirmation has registered seeds, and the size that its claim names.
enum class ClaimSize { reduced, full, confirmation };

/// The runs of a claim at one size.
struct ClaimSetting {
  std::string profile;     // the profile that `config` changes
  Json config;             // sections model, training, evaluation, splits, overrides
  std::string seeds;       // of each encoding, as on the command line: "8" or "1000..1015"
  std::string differs;     // differences from the source
  bool comparable = true;  // if not, nothing is run, and `differs` has the reason
};

struct ClaimFile {
  Claim claim;                                                    // the fields that do not depend on the size
  std::map<std::string, std::map<ClaimSize, std::string>> tasks;  // by the names in the rules: their specs
  std::map<ClaimSize, ClaimSetting> settings;                     // not comparable without a registration
  bool has_one_size = false;  // the reduced size is the published one: "reduced": "full"
};

/// Reads a claim. `name` is the name of the claim and of its file, without .json. Throws InputError, with file and
/// JSON path.
ClaimFile read_claim(const Json&, const std::string& name);

/// Writes the claims that were judged at one size, their verdicts and the evidence for them.
Json to_json(std::span<const Claim>, std::span<const ClaimResult>, const AllEvidence&, ClaimSize, double alpha);

/// The results of claims by their names, and the evidence for them.
struct JudgedClaims {
  std::map<std::string, ClaimResult> results;
  AllEvidence evidence;
};

/// Reads the results and the evidence that to_json() wrote. `file` is the name for messages.
JudgedClaims read_judged_claims(const Json&, const std::string& file);

std::string to_string(ClaimSize);

}  // namespace posbench
