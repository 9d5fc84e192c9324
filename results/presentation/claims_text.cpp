#include "results/presentation/claims_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
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

/// Returns a published number as an accuracy from 0 to 1; empty if it is something else, such as a gain.
std::optional<double> as_accuracy(const Published& published) {
  const auto has = [&](const char* words) { return published.what.find(words) != std::string::npos; };
  if (has(" in %") && !has("gain")) return has("error") ? 1 - published.value / 100 : published.value / 100;
  if (published.what.starts_with("sequence accuracy")) return published.value;
  return std::nullopt;
}

std::string cell_text(const ClaimCell& cell) {
  return fmt::format("{} {} {}", cell.encoding, cell.task, cell.split);
}

}  // namespace

bool is_judged(ClaimVerdict verdict) {
  return verdict != ClaimVerdict::not_run && verdict != ClaimVerdict::not_comparable;
}

Cell verdict_cell(ClaimVerdict verdict) { return {to_string(verdict), tone(verdict)}; }

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

std::optional<double> published_accuracy(const Claim& claim, const ClaimCell& cell) {
  if (claim.kind == ClaimKind::other_task) return std::nullopt;
  const auto is_of = [](const std::string& stated, const std::string& name) {
    return stated.empty() || stated == name;
  };
  std::vector<double> found;
  for (const Published& published : claim.published) {
    const std::optional<double> value = as_accuracy(published);
    if (value && published.encoding == cell.encoding && is_of(published.task, cell.task) &&
        is_of(published.split, cell.split))
      found.push_back(*value);
  }
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

std::string published_text(const Claim& claim, const Rule& rule) {
  if (const auto* order = std::get_if<OrderRule>(&rule)) return order->gap ? difference_text(*order->gap) : "-";
  const std::optional<double> accuracy = published_accuracy(claim, std::get<LevelRule>(rule).cell);
  return accuracy ? accuracy_text(*accuracy) : "-";
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

Table claim_verdicts(std::span<const Claim> claims, std::span<const ClaimResult> results) {
  Table table{{{"claim"}, {"verdict"}, {"kind"}}, {}};
  for (size_t i = 0; i < claims.size(); ++i)
    table.rows.push_back({claims[i].name, verdict_cell(results[i].verdict), to_string(claims[i].kind)});
  return table;
}

Table claim_table(std::span<const Claim> claims, std::span<const ClaimResult> results, bool every_row) {
  Table table{{{"claim", Align::left, Names::claims},
               {"verdict"},
               {"rule"},
               {"published", Align::right},
               {"found (95 %)", Align::right}},
              {}};
  for (size_t i = 0; i < claims.size(); ++i) {
    for (size_t r = 0; r < claims[i].rules.size(); ++r) {
      const bool is_named = r == 0 || every_row;
      table.rows.push_back({is_named ? claims[i].name : "", is_named ? verdict_cell(results[i].verdict) : Cell{""},
                            rule_text(claims[i].rules[r]), published_text(claims[i], claims[i].rules[r]),
                            found_text(results[i].rules[r])});
    }
  }
  return table;
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
