#include "results/presentation/claims_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "results/presentation/accuracy_text.h"

namespace posbench {
namespace {

Tone tone(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::reproduced:
      return Tone::good;
    case ClaimVerdict::contradicted:
      return Tone::bad;
    case ClaimVerdict::not_run:
      return Tone::faint;
    case ClaimVerdict::weaker:
    case ClaimVerdict::inconclusive:
    case ClaimVerdict::not_comparable:
      break;
  }
  return Tone::plain;
}

/// Returns a row for each rule. The first two columns have the name or the statement of the claim and its verdict,
/// in its first row or in `every_row`.
Table rule_rows(std::span<const Claim> claims, std::span<const ClaimResult> results, bool every_row,
                const char* column, std::string (*title)(const Claim&)) {
  Table table{{{column}, {"verdict"}, {"rule"}, {"published", Align::right}, {"found (95 %)", Align::right}}, {}};
  for (size_t i = 0; i < claims.size(); ++i) {
    for (size_t r = 0; r < claims[i].rules.size(); ++r) {
      const RuleResult& rule = results[i].rules[r];
      const bool named = r == 0 || every_row;
      const Cell verdict = named ? Cell{to_string(results[i].verdict), tone(results[i].verdict)} : Cell{""};
      table.rows.push_back({named ? title(claims[i]) : "", verdict, rule_text(claims[i].rules[r]),
                            published_text(claims[i].rules[r]), found_text(rule)});
    }
  }
  return table;
}

std::string cell_text(const ClaimCell& cell) {
  return fmt::format("{} {} {}", cell.encoding, cell.task, cell.split);
}

}  // namespace

std::string rule_text(const Rule& rule) {
  if (const auto* level = std::get_if<LevelRule>(&rule)) {
    return fmt::format("{} {} {}", cell_text(level->cell),
                       level->at_least ? ">=" : "<=", level->at_least ? *level->at_least : *level->at_most);
  }
  const auto& order = std::get<OrderRule>(rule);
  if (order.high.task == order.low.task && order.high.split == order.low.split) {
    return fmt::format("{} > {}, {} {}", order.high.encoding, order.low.encoding, order.high.task,
                       order.high.split);
  }
  return fmt::format("{} > {}", cell_text(order.high), cell_text(order.low));
}

std::string published_text(const Rule& rule) {
  const auto* order = std::get_if<OrderRule>(&rule);
  return order && order->gap ? difference_text(*order->gap) : "-";
}

std::string found_text(const RuleResult& result) {
  if (result.reached) return fmt::format("{} of {} seeds", result.reached->correct, result.reached->total);
  if (!result.difference) return "-";
  std::string difference = difference_text(*result.difference);
  if (!result.interval) return difference;
  return fmt::format("{} ({} to {})", difference, difference_text(result.interval->low),
                     difference_text(result.interval->high));
}

std::string claim_kinds(std::span<const Claim> claims) {
  std::vector<std::string> counts;
  for (const ClaimKind kind : kClaimKinds) {
    const auto count =
        std::count_if(claims.begin(), claims.end(), [&](const Claim& claim) { return claim.kind == kind; });
    if (count > 0) counts.push_back(fmt::format("{} {}", count, to_string(kind)));
  }
  return fmt::format("{}", fmt::join(counts, ", "));
}

std::string count_verdicts(std::span<const ClaimResult> results) {
  std::vector<std::string> counts;
  for (const ClaimVerdict verdict : kClaimVerdicts) {
    const auto count = std::ranges::count(results, verdict, &ClaimResult::verdict);
    if (count > 0) counts.push_back(fmt::format("{} {}", count, to_string(verdict)));
  }
  return fmt::format("{}", fmt::join(counts, ", "));
}

Table claim_list(std::span<const Claim> claims, std::span<const ClaimResult> results) {
  Table table{
      {{"claim"}, {"family"}, {"verdict"}, {"predicted"}, {"kind"}, {"statement"}, {"reason of the verdict"}}, {}};
  for (size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    const std::string& reason = results[i].reason;
    table.rows.push_back({claim.name, claim.family, to_string(results[i].verdict), claim.expected,
                          to_string(claim.kind), claim.statement, reason.empty() ? "-" : reason});
  }
  return table;
}

Table claim_table(std::span<const Claim> claims, std::span<const ClaimResult> results, bool every_row) {
  return rule_rows(claims, results, every_row, "claim", [](const Claim& claim) { return claim.name; });
}

Table claim_statements(std::span<const Claim> claims, std::span<const ClaimResult> results) {
  return rule_rows(claims, results, false, "statement",
                   [](const Claim& claim) { return fmt::format("{} ({})", claim.statement, claim.source); });
}

std::vector<std::string> claim_notes(std::span<const Claim> claims, std::span<const ClaimResult> results) {
  std::vector<std::string> notes{count_verdicts(results)};
  if (std::ranges::any_of(results, [](const auto& result) { return result.verdict == ClaimVerdict::not_run; })) {
    notes.emplace_back("not run: " + meaning(ClaimVerdict::not_run) + "; --dry-run lists what is left to train");
  }
  notes.push_back("kinds: " + claim_kinds(claims));
  for (size_t i = 0; i < claims.size(); ++i) {
    if (!results[i].reason.empty()) notes.push_back(fmt::format("{}: {}", claims[i].name, results[i].reason));
  }
  return notes;
}

}  // namespace posbench
