#include "harness/commands/show_claim.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/console/facts.h"
#include "harness/runs/claims.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/claims_text.h"
#include "results/statistics/claims.h"
#include "results/statistics/statistics.h"
#include "results/types/metric.h"

namespace posbench {
namespace {

/// Returns the means over seeds that an order rule compares. Empty if the evidence lacks one of them.
std::string means_line(const OrderRule& order, Metric metric, const AllEvidence& all) {
  std::vector<std::string> means;
  for (const ClaimCell* cell : {&order.high, &order.low}) {
    const auto found = all.find(evidence_key(*cell, metric));
    if (found == all.end()) return "";
    const std::vector<double>& values = found->second.values;
    means.push_back(
        fmt::format("{} {} ({} seeds)", cell->encoding, accuracy_text(mean(values), 3), values.size()));
  }
  return fact_line("means", fmt::format("{}", fmt::join(means, ", ")));
}

/// Returns the result of a rule: the difference or the number of seeds, and the reason. `title` begins the line.
/// Empty if the claim was not run.
std::string found_line(const std::string& title, const Rule& rule, const RuleResult& result) {
  if (result.verdict == ClaimVerdict::not_run) return "";
  std::string text = found_text(result);
  if (result.reason.starts_with(text)) return fact_line(title, result.reason);
  const bool weaker = result.verdict == ClaimVerdict::weaker;
  const bool contradicted = result.verdict == ClaimVerdict::contradicted;
  const std::optional<double> p = weaker         ? result.p_below_least
                                  : contradicted ? result.p_below_zero
                                                 : result.p_above_least;
  const auto* order = std::get_if<OrderRule>(&rule);
  if (order && p && result.verdict != ClaimVerdict::inconclusive) {
    text +=
        fmt::format("; p {} for a difference {}, corrected for the rules of all claims",
                    *p < 0.001 ? "< 0.001" : fmt::format("= {:.3f}", *p),
                    contradicted ? "below 0" : fmt::format("{} {:.4g}", weaker ? "below" : "above", order->least));
  }
  return fact_line(title, text + (result.reason.empty() ? "" : ": " + result.reason));
}

/// Returns a claim with its rules and the verdict of the stored runs.
std::string claim_text(const ClaimFile& file) {
  const Claim claim = plan_claims({file.claim.name}, ClaimSize::reduced).claims.front();
  const ClaimResult reduced = stored_result(file, ClaimSize::reduced), full = stored_result(file, ClaimSize::full);
  std::string text = fmt::format("{} (claim, {})\n\n", claim.name, claim.family) +
                     fact_line("statement", claim.statement) + fact_line("source", claim.source) +
                     fact_line("kind", to_string(claim.kind)) +
                     fact_line("source read", fmt::format("{}: {}", claim.read_from, claim.read_where));
  int seeds = 0;  // that would decide the claim; 0 if more seeds would not
  for (size_t n = 0; n < claim.rules.size(); ++n) {
    const Rule& rule = claim.rules[n];
    const auto* order = std::get_if<OrderRule>(&rule);
    std::string line = rule_text(rule);
    if (order) line += fmt::format("; by more than {:.4g}", order->least);
    for (const ClaimCell* cell : cells_of(rule)) {
      if (cell->learned_from)
        line +=
            fmt::format("; a seed of {} has learned the task at {} or more", cell->encoding, *cell->learned_from);
    }
    text += fact_line("rule", line);
    if (order) text += means_line(*order, claim.metric, stored_claims(ClaimSize::reduced).evidence);
    text += found_line("found", rule, reduced.rules.at(n)) + found_line("found, full", rule, full.rules.at(n));
    seeds = std::max(seeds, reduced.rules.at(n).seeds_needed.value_or(0));
  }
  for (const Published& number : claim.published)
    text += fact_line("published", fmt::format("{}: {} {}", number.encoding, number.value, number.what));
  text += fact_line("differs", file.settings.at(ClaimSize::reduced).differs) +
          (file.has_one_size ? "" : fact_line("differs, full", file.settings.at(ClaimSize::full).differs)) +
          fact_line("predicted", claim.expected) + fact_line("verdict", to_string(reduced.verdict)) +
          fact_line("at full size", to_string(full.verdict));
  const bool is_reduced = file.settings.at(ClaimSize::reduced).comparable;
  if (!is_reduced && !file.settings.at(ClaimSize::full).comparable) return text;
  return text + fmt::format("\n'posbench reproduce {}{}{}' trains its runs and judges it.\n", claim.name,
                            is_reduced ? "" : " --full", seeds > 0 ? fmt::format(" -s {}", seeds) : "");
}

}  // namespace

std::string show_claim(const std::string& name) {
  const auto found = std::ranges::find(claim_files(), name, [](const ClaimFile& file) { return file.claim.name; });
  return found == claim_files().end() ? "" : claim_text(*found);
}

}  // namespace posbench
