// Writes claims and their verdicts as tables and texts.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/presentation/table.h"
#include "results/statistics/claims.h"

namespace posbench {

/// Returns "cope > rope, flip_flop ood_sparse"; the task and the split once where both sides have the same.
std::string rule_text(const Rule&);
/// Returns the published difference, or "-".
std::string published_text(const Rule&);
/// Returns "+0.210 (+0.100 to +0.320)", "6 of 7 seeds", or "-".
std::string found_text(const RuleResult&);

/// Returns "29 published number, 3 own statement": the number of claims of each kind.
std::string claim_kinds(std::span<const Claim>);

/// Returns the stored verdict of a claim, "not run" if it has none.
std::string verdict_of(const Claim&, const std::map<std::string, std::string>& verdicts);

/// Returns "48 reproduced, 13 contradicted, 61 inconclusive", given the stored verdicts by claim.
std::string listed_verdicts(std::span<const Claim>, const std::map<std::string, std::string>& verdicts);

/// Returns a row for each claim: name, family, verdict, the verdict that was predicted before any run, kind, statement
/// and the reason of the verdict. `verdicts` and `reasons` are those of the stored runs by the names of the claims; other
/// claims are "not run".
Table claim_list(std::span<const Claim>, const std::map<std::string, std::string>& verdicts,
                 const std::map<std::string, std::string>& reasons);

/// Returns a row for each rule of each claim: verdict, claim, comparison, published and found difference.
Table claim_table(std::span<const Claim>, std::span<const ClaimResult>);

/// Returns the same rows for a document: with the statement and its source instead of the claim's name.
Table claim_statements(std::span<const Claim>, std::span<const ClaimResult>);

/// Returns the text below the table: the numbers of claims of each verdict and of each kind, and the reasons of
/// open claims.
std::vector<std::string> claim_notes(std::span<const Claim>, std::span<const ClaimResult>);

}  // namespace posbench
