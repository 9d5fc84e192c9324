// Gives access to the files that the program was built with: profiles, claims, the reports of the board and its
// costs.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/json/json.h"
#include "results/reports/cost_json.h"
#include "results/types/report.h"

namespace posbench {

/// Returns the JSON of harness/config/profiles by name. The key "profile" names the one that a profile is based
/// on.
const std::map<std::string, std::string>& profiles();

/// Returns the JSON of harness/config/glossary.json.
const std::string& glossary_text();

/// Returns the JSON of results/data/questions/answers.json.
const std::string& answers_text();

/// Returns the JSON of results/data/claims by name.
const std::map<std::string, std::string>& claim_texts();

/// Returns the JSON of the stored verdicts about claims by their size: "reduced", "full" or "confirmation".
const std::map<std::string, std::string>& verdict_texts();
/// Returns the hash of the code that judges claims, without its comments and white space.
const std::string& claim_rules_hash();

/// Returns the board's reports and, last, its costs by their paths in the source tree.
const std::vector<std::pair<std::string, std::string_view>>& board_bytes();

/// A term of the program's documents.
struct Term {
  std::string name;
  std::vector<std::string> aliases;
  std::string meaning;
  std::vector<std::string> commands;  // that use it
};

/// Returns the terms of harness/config/glossary.json, in its order.
const std::vector<Term>& glossary();

struct StoredReport {
  std::string name;  // its path in the source tree
  Report report;
};

/// Reads all reports of the board; or the reference report and the files that are named after the given encodings,
/// which have all other results of these.
std::vector<StoredReport> board_reports(const std::vector<std::string>& encodings = {});

/// Returns the cost of a training step with each encoding, from results/data/board/cost.json.
const MeasuredCosts& board_costs();

}  // namespace posbench
