#include "results/presentation/claims_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "results/document/page.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/claims_text.h"
#include "results/statistics/seed_pairs.h"

namespace posbench {
namespace {

/// One line of a claim's plot.
struct Line {
  const ClaimCell* cell;
  std::string series;
  std::optional<double> threshold;
  std::string need;  // the condition on the seeds
};

std::optional<double> median_of(const ClaimCell& cell, Metric metric, const AllEvidence& all) {
  const auto found = all.find(evidence_key(cell, metric));
  if (found == all.end()) return std::nullopt;
  return SeedPairs(found->second.values, std::vector{0.0}).median();
}

std::vector<Line> lines_of(const Claim& claim, const AllEvidence& all) {
  std::vector<Line> lines;
  for (const Rule& rule : claim.rules) {
    if (const auto* level = std::get_if<LevelRule>(&rule)) {
      const double bound = level->at_least ? *level->at_least : *level->at_most;
      lines.push_back({&level->cell, "claimed level", bound,
                       fmt::format("more than half of all seeds need {} {:.3g}",
                                   level->at_least ? "at least" : "at most", bound)});
      continue;
    }
    const auto& order = std::get<OrderRule>(rule);
    const std::optional<double> low = median_of(order.low, claim.metric, all);
    const std::optional<double> threshold = low ? std::optional(*low + order.least) : std::nullopt;
    lines.push_back(
        {&order.high, "claimed to be higher", threshold,
         fmt::format("more than half of all pairs of seeds must differ by more than {:.3g}; the line is "
                     "this much above the median of {}",
                     order.least, order.low.encoding)});
    lines.push_back({&order.low, "claimed to be lower", std::nullopt, ""});
  }
  return lines;
}

bool same_place(const std::vector<Line>& lines) {
  return std::ranges::all_of(lines, [&](const Line& line) {
    return line.cell->task == lines.front().cell->task && line.cell->split == lines.front().cell->split;
  });
}

/// A dot of published_plots: a rule with a published value.
struct PublishedDot {
  double published = 0, found = 0;
  std::optional<Interval> interval;
};

/// Returns the difference of an order rule and its interval. Empty if it was not published or not found.
std::optional<PublishedDot> difference_dot(const Rule& rule, const RuleResult& result) {
  const auto* order = std::get_if<OrderRule>(&rule);
  if (!order || !order->gap || !result.difference) return std::nullopt;
  return PublishedDot{*order->gap, *result.difference, result.interval};
}

/// Returns the mean accuracy of a level rule, with the least and the greatest of the seeds.
std::optional<PublishedDot> level_dot(const Claim& claim, const Rule& rule, const AllEvidence& all) {
  const auto* level = std::get_if<LevelRule>(&rule);
  if (!level) return std::nullopt;
  const std::optional<double> published = published_accuracy(claim, level->cell);
  const auto found = all.find(evidence_key(level->cell, claim.metric));
  if (!published || found == all.end()) return std::nullopt;
  const auto [least, greatest] = std::ranges::minmax(found->second.values);
  return PublishedDot{*published, mean(found->second.values), Interval{least, greatest}};
}

/// Adds the dot of a claim: of its rules with a dot the one that decides the verdict, or else the first.
void add_dot(const Claim& claim, const ClaimResult& result,
             const std::function<std::optional<PublishedDot>(size_t)>& dot_of, const std::string& address,
             Plot& plot) {
  std::optional<PublishedDot> chosen;
  for (size_t r = 0; r < claim.rules.size(); ++r) {
    const std::optional<PublishedDot> dot = dot_of(r);
    if (!dot || (chosen && result.rules[r].verdict != result.verdict)) continue;
    chosen = dot;
    if (result.rules[r].verdict == result.verdict) break;
  }
  if (!chosen) return;
  plot.add_row({claim.name, to_string(result.verdict), chosen->published, chosen->found, low_of(chosen->interval),
                high_of(chosen->interval)});
  if (!address.empty()) plot.signals["addresses"][claim.name] = address;
}

Page make_page(std::span<const Claim> claims, std::span<const ClaimResult> results, const AllEvidence& all,
               ClaimSize size, const std::string& directory) {
  Page page{.title = fmt::format("{}: {} about position encodings", short_run_name(directory),
                                 counted(claims.size(), "claim")),
            .notes = {fmt::format("Verdicts at the {} size.", to_string(size))}};
  const std::string agreement = published_contrasts_text(claims, results);
  if (!agreement.empty()) page.notes.insert(page.notes.begin(), "Published against found: " + agreement + ".");
  page.sections.push_back({"Published and found", "", published_plots(claims, results, all)});
  return page;
}

}  // namespace

std::vector<Plot> published_plots(std::span<const Claim> claims, std::span<const ClaimResult> results,
                                  const AllEvidence& all,
                                  const std::function<std::string(const Claim&)>& address_of) {
  Plot differences{.kind = "scatter",
                   .title = "Published and found differences",
                   .columns = {{"row", "claim"},
                               {"series", "verdict"},
                               {"x", "published"},
                               {"y", "found"},
                               {"low", "from"},
                               {"high", "to"}}};
  differences.signals = {{"x_title", "published difference"},
                         {"y_title", "found difference, the median over pairs of seeds, with its 95 % interval"},
                         {"bound", 0.25},
                         {"addresses", Json::object()}};
  Plot levels = differences;
  levels.title = "Published and found accuracies";
  levels.signals["x_title"] = "published accuracy";
  levels.signals["y_title"] = "mean over seeds, with the least and the greatest";
  levels.signals.erase("bound");
  for (size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    if (!is_judged(results[i].verdict)) continue;
    const auto difference = [&](size_t r) { return difference_dot(claim.rules[r], results[i].rules[r]); };
    const auto level = [&](size_t r) { return level_dot(claim, claim.rules[r], all); };
    const std::string address = address_of ? address_of(claim) : "";
    add_dot(claim, results[i], difference, address, differences);
    add_dot(claim, results[i], level, address, levels);
  }
  const auto holds_published = [](const Json& row) {
    return !row[4].is_null() && row[4] <= row[2] && row[2] <= row[5];
  };
  const char* click = address_of ? " Click a dot to open its claim." : "";
  differences.about = fmt::format(
      "A dot is a claim whose source states both accuracies: {} of {}. A claim with several rules has the dot of the rule "
      "that decides it. On the dashed line, the found difference is the published one; below the dotted line, it is less "
      "than a quarter of it, the bound of a rule. {} of the intervals contain the published difference. The models are "
      "smaller than the published ones, so another number does not show an error of the source.{}",
      differences.rows.size(), claims.size(), std::ranges::count_if(differences.rows, holds_published), click);
  levels.about = fmt::format(
      "A dot is a claim about a level of one accuracy that its source states: {} of {}. On the dashed line, the mean is the "
      "published accuracy.{}",
      levels.rows.size(), claims.size(), click);
  return {std::move(differences), std::move(levels)};
}

Plot claim_plot(const Claim& claim, const AllEvidence& all) {
  Plot plot{.kind = "strip",
            .title = claim.statement,
            .columns = {{"row", "encoding"},
                        {"series", "in the claim"},
                        {"mean", "our mean"},
                        {"values", "our seeds"},
                        {"threshold", "threshold"},
                        {"need", "condition of the claim"},
                        {"published", "published"}}};
  const std::vector<Line> lines = lines_of(claim, all);
  const bool same = same_place(lines);
  std::set<std::string> seen;
  Json labels = Json::object();
  for (const Line& line : lines) {
    std::string row = same ? line.cell->encoding
                           : fmt::format("{}, {} {}", line.cell->encoding, line.cell->task, line.cell->split);
    if (!seen.insert(row).second) {
      if (!line.threshold) continue;  // the low side of several rules
      row += fmt::format(" ({})", seen.size());
      seen.insert(row);
    }
    const auto found = all.find(evidence_key(*line.cell, claim.metric));
    const std::vector<double> values = found == all.end() ? std::vector<double>() : found->second.values;
    if (found != all.end()) labels[row] = accuracy_text(mean(values));
    plot.add_row({row, line.series, mean(values), values, number_or_null(line.threshold), line.need,
                  number_or_null(published_accuracy(claim, *line.cell))});
  }
  plot.signals = {{"x_title", metric_info(claim.metric).title}, {"labels", std::move(labels)}};
  return plot;
}

Document make_claims_document(std::span<const Claim> claims, std::span<const ClaimResult> results,
                              const AllEvidence& all, ClaimSize size, double alpha, const std::string& directory) {
  Document document;
  document.blocks.emplace_back(claim_table(claims, results, /*every_row=*/false));
  add_notes(claim_notes(claims, results), document.blocks);
  document.rows = [=] { return claim_table(claims, results, /*every_row=*/true); };
  document.json = [=, &all] { return to_json(claims, results, all, size, alpha); };
  document.page = [=, &all] { return make_page(claims, results, all, size, directory); };
  return document;
}

}  // namespace posbench
