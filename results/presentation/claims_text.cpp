#include "results/presentation/claims_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "results/presentation/accuracy_text.h"
#include "results/statistics/published_contrasts.h"

namespace posbench {
namespace {

std::string cell_text(const ClaimCell& cell) {
  return fmt::format("{} {} {}", cell.encoding, cell.task, cell.split);
}

}  // namespace

bool is_judged(Verdict verdict) { return verdict != Verdict::not_run && verdict != Verdict::not_comparable; }

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

std::string published_text(const Claim& claim, const Rule& rule) {
  if (const auto* order = std::get_if<OrderRule>(&rule)) return order->gap ? difference_text(*order->gap) : "-";
  const std::optional<double> accuracy = published_accuracy(claim, std::get<LevelRule>(rule).cell);
  return accuracy ? accuracy_text(*accuracy) : "-";
}

std::string found_text(const RuleResult& result) {
  if (result.reached) {
    std::string seeds = fmt::format("{} of {} seeds", result.reached->correct, result.reached->total);
    return result.fraction ? fmt::format("{} ({} of all)", seeds, fraction_text(*result.fraction)) : seeds;
  }
  if (!result.difference) return "-";
  std::string difference = difference_text(*result.difference);
  if (result.interval) {
    difference +=
        fmt::format(" ({} to {})", difference_text(result.interval->low), difference_text(result.interval->high));
  }
  if (result.mean_difference) difference += fmt::format(", means {}", difference_text(*result.mean_difference));
  return difference;
}

std::string fraction_text(Interval fraction) {
  return fmt::format("{:.2f} to {:.2f}", std::floor(100 * fraction.low) / 100,
                     std::ceil(100 * fraction.high) / 100);
}

std::string published_contrasts_text(std::span<const Claim> claims, std::span<const ClaimResult> results) {
  const PublishedContrasts all = compare_with_published(claims, results);
  if (all.contrasts == 0) return "";
  std::string text = fmt::format(
      "of {} that a source states, {} have the published sign here as differences of means, and {} a size between half "
      "and twice the published one",
      all.contrasts == 1 ? "1 difference" : fmt::format("{} differences", all.contrasts), all.same_sign,
      all.similar_size);
  if (!all.rank_correlation) return text;
  return text + fmt::format("; their rank correlation is {:.2f} ({:.2f} to {:.2f}, 95 %)", *all.rank_correlation,
                            all.interval->low, all.interval->high);
}

std::string claim_kinds(std::span<const Claim> claims) {
  std::vector<std::string> counts;
  for (const ClaimKind kind : kClaimKinds) {
    const auto count = std::ranges::count(claims, kind, &Claim::kind);
    if (count > 0) counts.push_back(fmt::format("{} {}", count, to_string(kind)));
  }
  return fmt::format("{}", fmt::join(counts, ", "));
}

std::string count_verdicts(std::span<const ClaimResult> results, Verdict ClaimResult::*member) {
  std::vector<std::string> counts;
  for (const Verdict verdict : kClaimVerdicts) {
    const auto count = std::ranges::count(results, verdict, member);
    if (count > 0) counts.push_back(fmt::format("{} {}", count, to_string(verdict)));
  }
  return fmt::format("{}", fmt::join(counts, ", "));
}

Cell confirmation_cell(const ClaimResult& result) {
  return result.verdict == Verdict::not_comparable ? Cell{"-"} : verdict_cell(result.verdict);
}

Table claim_list(std::span<const Claim> claims, std::span<const ClaimResult> results,
                 std::span<const ClaimResult> confirmed) {
  Table table{.columns = make_columns({"claim", "family", "exploration", "by itself", "confirmation", "kind",
                                       "statement", "reason of the verdict"})};
  for (size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    const std::string& reason = results[i].reason;
    table.rows.push_back({claim.name, claim.family, to_string(results[i].verdict), to_string(results[i].by_itself),
                          confirmation_cell(confirmed[i]), to_string(claim.kind), claim.statement,
                          reason.empty() ? "-" : reason});
  }
  return table;
}

Table claim_verdicts(std::span<const Claim> claims, std::span<const ClaimResult> results,
                     std::span<const ClaimResult> confirmed) {
  Table table{.columns = {{"claim"}, {"exploration"}, {"by itself"}, {"confirmation"}}};
  for (size_t i = 0; i < claims.size(); ++i)
    table.rows.push_back({claims[i].name, verdict_cell(results[i].verdict), verdict_cell(results[i].by_itself),
                          confirmation_cell(confirmed[i])});
  return table;
}

Table claim_table(std::span<const Claim> claims, std::span<const ClaimResult> results, bool every_row) {
  Table table{.columns = make_columns({"claim", "verdict", "rule"}, {"published", "found (95 %)"})};
  table.columns.front().names = Names::claims;
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
  size_t rules = 0;
  for (const ClaimResult& result : results) rules += is_judged(result.verdict) ? result.rules.size() : 0;
  notes.push_back(fmt::format(
      "by itself, as if no other rule was judged: {}; of these {} rules, at most {:.3g} are expected to be wrong",
      count_verdicts(results, &ClaimResult::by_itself), rules, kClaimAlpha * static_cast<double>(rules)));
  if (const std::string text = published_contrasts_text(claims, results); !text.empty())
    notes.push_back("published against found: " + text);
  if (std::ranges::any_of(results, [](const auto& result) { return result.verdict == Verdict::not_run; })) {
    notes.emplace_back("not run: " + meaning(Verdict::not_run) + "; --dry-run lists what is left to train");
  }
  notes.push_back("kinds: " + claim_kinds(claims));
  for (size_t i = 0; i < claims.size(); ++i) {
    if (!results[i].reason.empty()) notes.push_back(fmt::format("{}: {}", claims[i].name, results[i].reason));
  }
  return notes;
}

}  // namespace posbench
