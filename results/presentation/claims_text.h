// Claims and their verdicts as people read them.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "results/presentation/table.h"
#include "results/statistics/claims.h"

namespace posbench {

/// "cope > rope, flip_flop ood_sparse"; the task and the split once where both sides have the same.
std::string rule_text(const Rule&);
/// The published difference, or "-".
std::string published_text(const Rule&);
/// "+0.210 (+0.100 to +0.320)", "6 of 7 seeds", or "-".
std::string found_text(const RuleResult&);

/// A row for each claim: its name, family, what is expected, statement.
Table claim_list(std::span<const Claim>);

/// A row for each rule of each claim: verdict, claim, what was compared, published and found difference.
Table claim_table(std::span<const Claim>, std::span<const ClaimResult>);

/// The same for a document: with the statement and its source instead of the claim's name.
Table claim_statements(std::span<const Claim>, std::span<const ClaimResult>);

/// Under the table: how many of each verdict, why claims are open, and what every claim's runs do otherwise.
std::vector<std::string> claim_notes(std::span<const Claim>, std::span<const ClaimResult>);

}  // namespace posbench
