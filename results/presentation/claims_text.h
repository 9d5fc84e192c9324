// Writes claims and their verdicts as tables and texts.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/document/table.h"
#include "results/statistics/claims.h"

namespace posbench {

/// Returns true if runs decided the verdict: it is neither "not run" nor "not comparable".
bool is_judged(ClaimVerdict);

/// Returns a verdict with its color.
Cell verdict_cell(ClaimVerdict);

/// Returns "cope > rope, flip_flop ood_sparse"; the task and the split once where both sides have the same.
std::string rule_text(const Rule&);
/// Returns the published accuracy of a cell; empty if it is of another task, or if the claim has not just one
/// number for the cell.
std::optional<double> published_accuracy(const Claim&, const ClaimCell&);
/// Returns the published difference of an order rule, the published accuracy of a level rule, or "-".
std::string published_text(const Claim&, const Rule&);
/// Returns "+0.210 (+0.100 to +0.320)", "6 of 7 seeds", or "-".
std::string found_text(const RuleResult&);

/// Returns "29 published number, 3 own statement": the number of claims of each kind.
std::string claim_kinds(std::span<const Claim>);

/// Returns "48 reproduced, 13 contradicted, 61 inconclusive".
std::string count_verdicts(std::span<const ClaimResult>);

/// Returns a row for each claim: name, family, verdict, the verdict that was predicted before any run, kind,
/// statement and the reason of the verdict.
Table claim_list(std::span<const Claim>, std::span<const ClaimResult>);

/// Returns name, verdict and kind of each claim.
Table claim_verdicts(std::span<const Claim>, std::span<const ClaimResult>);

/// Returns a row for each rule of each claim: claim, verdict, rule, published and found result. Claim and
/// verdict are in the first row of a claim, or in `every_row`.
Table claim_table(std::span<const Claim>, std::span<const ClaimResult>, bool every_row);

/// Returns the text below the table: the numbers of claims of each verdict and of each kind, and the reasons of
/// open claims.
std::vector<std::string> claim_notes(std::span<const Claim>, std::span<const ClaimResult>);

}  // namespace posbench
