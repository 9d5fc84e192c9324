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
bool is_judged(Verdict);

/// Returns "cope > rope, flip_flop ood_sparse"; the task and the split once where both sides have the same.
std::string rule_text(const Rule&);
/// Returns the published difference of an order rule, the published accuracy of a level rule, or "-".
std::string published_text(const Claim&, const Rule&);
/// Returns "+0.210 (+0.100 to +0.320), means +0.215", "6 of 7 seeds (0.42 to 1.00 of all)", or "-".
std::string found_text(const RuleResult&);
/// Returns "0.42 to 1.00", rounded outward.
std::string fraction_text(Interval);

/// Returns how the published differences agree with the found ones; empty if there are none.
std::string published_contrasts_text(std::span<const Claim>, std::span<const ClaimResult>);

/// Returns "29 published number, 3 own statement": the number of claims of each kind.
std::string claim_kinds(std::span<const Claim>);

/// Returns "48 reproduced, 13 contradicted, 61 inconclusive".
std::string count_verdicts(std::span<const ClaimResult>, Verdict ClaimResult::*member = &ClaimResult::verdict);

/// Returns the verdict of a confirmation, or "-" if none is registered.
Cell confirmation_cell(const ClaimResult&);

/// Returns a row for each claim: name, family, verdicts, kind, statement and the reason of the first verdict. The
/// last argument has the confirmations.
Table claim_list(std::span<const Claim>, std::span<const ClaimResult>, std::span<const ClaimResult>);

/// Returns name and verdicts of each claim. The last argument has the confirmations.
Table claim_verdicts(std::span<const Claim>, std::span<const ClaimResult>, std::span<const ClaimResult>);

/// Returns a row for each rule of each claim: claim, verdict, rule, published and found result. Claim and
/// verdict are in the first row of a claim, or in `every_row`.
Table claim_table(std::span<const Claim>, std::span<const ClaimResult>, bool every_row);

/// Returns the text below the table: the numbers of claims of each verdict, of each verdict by itself and of each
/// kind, the agreement with published differences, and the reasons of open claims.
std::vector<std::string> claim_notes(std::span<const Claim>, std::span<const ClaimResult>);

}  // namespace posbench
