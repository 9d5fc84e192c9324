#include "results/presentation/claims_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
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

/// Returns a row for each rule. The first two columns have the name or the statement of the claim and its verdict, in its
/// first row only.
Table rule_rows(std::span<const Claim> claims, std::span<const ClaimResult> results, const char* column,
                std::string (*title)(const Claim&)) {
  Table table{{{column}, {"verdict"}, {"rule"}, {"published", Align::right}, {"found (95 %)", Align::right}}, {}};
  for (size_t i = 0; i < claims.size(); ++i) {
    for (size_t r = 0; r < claims[i].rules.size(); ++r) {
      const RuleResult& rule = results[i].rules[r];
      const Cell verdict = r == 0 ? Cell{to_string(results[i].verdict), tone(results[i].verdict)} : Cell{""};
      table.rows.push_back({r == 0 ? title(claims[i]) : "", verdict, rule_text(claims[i].rules[r]),
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
  const std::string difference = difference_text(*result.difference);
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

std::string verdict_of(const Claim& claim, const std::map<std::string, std::string>& verdicts) {
  const auto found = verdicts.find(claim.name);
  return found == verdicts.end() ? to_string(ClaimVerdict::not_run) : found->second;
}

std::string listed_verdicts(std::span<const Claim> claims, const std::map<std::string, std::string>& verdicts) {
  std::vector<std::string> counts;
  for (const ClaimVerdict verdict : kClaimVerdicts) {
    const auto count = std::ranges::count_if(
        claims, [&](const Claim& claim) { return verdict_of(claim, verdicts) == to_string(verdict); });
    if (count > 0) counts.push_back(fmt::format("{} {}", count, to_string(verdict)));
  }
  return fmt::format("{}", fmt::join(counts, ", "));
}

Table claim_list(std::span<const Claim> claims, const std::map<std::string, std::string>& verdicts,
                 const std::map<std::string, std::string>& reasons) {
  Table table{
      {{"claim"}, {"family"}, {"verdict"}, {"predicted"}, {"kind"}, {"statement"}, {"reason of the verdict"}}, {}};
  for (const Claim& claim : claims) {
    const auto reason = reasons.find(claim.name);
    table.rows.push_back({claim.name, claim.family, verdict_of(claim, verdicts), claim.expected,
                          to_string(claim.kind), claim.statement,
                          reason == reasons.end() || reason->second.empty() ? "-" : reason->second});
  }
  return table;
}

Table claim_table(std::span<const Claim> claims, std::span<const ClaimResult> results) {
  return rule_rows(claims, results, "claim", [](const Claim& claim) { return claim.name; });
}

Table claim_statements(std::span<const Claim> claims, std::span<const ClaimResult> results) {
  return rule_rows(claims, results, "statement",
                   [](const Claim& claim) { return fmt::format("{} ({})", claim.statement, claim.source); });
}

std::vector<std::string> claim_notes(std::span<const Claim> claims, std::span<const ClaimResult> results) {
  std::map<std::string, std::string> verdicts;
  for (size_t i = 0; i < claims.size(); ++i) verdicts[claims[i].name] = to_string(results[i].verdict);
  std::vector<std::string> notes{listed_verdicts(claims, verdicts)};
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
