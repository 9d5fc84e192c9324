#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/commands/describe.h"
#include "harness/runs/claims.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/claims_page.h"
#include "results/presentation/claims_text.h"
#include "results/statistics/claims.h"
#include "results/statistics/statistics.h"
#include "results/types/metric.h"

namespace posbench {
namespace {

/// Returns a rule with its bounds.
std::string rule_line(const Rule& rule) {
  std::string line = rule_text(rule);
  if (const auto* order = std::get_if<OrderRule>(&rule))
    line += fmt::format("; by more than {:.4g}", order->least);
  for (const ClaimCell* cell : cells_of(rule)) {
    if (cell->learned_from)
      line +=
          fmt::format("; a seed of {} has learned the task at {} or more", cell->encoding, *cell->learned_from);
  }
  return line;
}

/// Returns the means over seeds that a rule compares. Empty if the evidence lacks one of them.
std::string means_text(const Rule& rule, Metric metric, const AllEvidence& all) {
  if (!std::holds_alternative<OrderRule>(rule)) return "";
  std::vector<std::string> means;
  for (const ClaimCell* cell : cells_of(rule)) {
    const auto found = all.find(evidence_key(*cell, metric));
    if (found == all.end()) return "";
    const std::vector<double>& values = found->second.values;
    means.push_back(
        fmt::format("{} {} ({} seeds)", cell->encoding, accuracy_text(mean(values), 3), values.size()));
  }
  return fmt::format("{}", fmt::join(means, ", "));
}

/// Returns the result of a rule: the difference or the number of seeds, the fraction that meets
/// it, and the reason. Empty if the claim was not
/// run.
std::string result_text(const Rule& rule, const RuleResult& result) {
  if (result.verdict == Verdict::not_run) return "";
  std::string text = found_text(result);
  if (const auto* order = std::get_if<OrderRule>(&rule); order && result.fraction)
    text += fmt::format("; by more than {:.4g} in {} of all pairs of seeds", order->least,
                        fraction_text(*result.fraction));
  return text + (result.reason.empty() ? "" : ": " + result.reason);
}

/// Adds the verdict at one size, and the command that repeats it.
void add_verdict(const ClaimFile& file, ClaimSize size, Document& document) {
  const Claim claim = claim_at(file, size);
  const ClaimResult result = stored_result(file, size);
  const bool is_full = size == ClaimSize::full;
  const bool confirms = size == ClaimSize::confirmation;
  document.blocks.push_back(Heading{confirms  ? "Confirmation"
                                    : is_full ? "Exploration at full size"
                                              : "Exploration"});
  std::vector<Fact> facts{{"verdict", to_string(result.verdict)}, {"by itself", to_string(result.by_itself)}};
  const bool has_one_rule = claim.rules.size() == 1;
  if (!has_one_rule) facts.push_back({"reason", result.reason});
  int seeds = 0;  // that would decide the claim; 0 if more seeds would not
  for (size_t n = 0; n < claim.rules.size(); ++n) {
    const RuleResult& of_rule = result.rules.at(n);
    const std::string published = published_text(claim, claim.rules[n]);
    facts.push_back({"rule", rule_line(claim.rules[n])});
    if (!has_one_rule) facts.push_back({"its verdict", to_string(of_rule.verdict)});
    facts.push_back({"published", published == "-" ? "" : published});
    facts.push_back({"means", means_text(claim.rules[n], claim.metric, stored_claims(size).evidence)});
    facts.push_back({"found", result_text(claim.rules[n], of_rule)});
    seeds = std::max(seeds, of_rule.seeds_needed.value_or(0));
  }
  facts.push_back({"differs", claim.differs});
  if (confirms) {
    facts.push_back({"registered", fmt::format("seeds {}, by the claim and the rules of commit {}",
                                               file.settings.at(size).seeds, claim.confirm->frozen)});
  }
  document.blocks.push_back(Facts{std::move(facts)});
  if (!claim.comparable || (confirms && is_judged(result.verdict))) return;
  document.blocks.push_back(
      Text{fmt::format("'posbench reproduce {}{}{}' trains its runs and judges it.", claim.name,
                       confirms                        ? " --confirm"
                       : is_full && !file.has_one_size ? " --full"
                                                       : "",
                       seeds > 0 && !confirms ? fmt::format(" -s {}", seeds) : "")});
}

/// Returns the plots of the evidence at the sizes that were judged.
Page evidence_page(const ClaimFile& file) {
  Section section{"Evidence", kAboutEvidence, {}};
  for (const ClaimSize size : {ClaimSize::reduced, ClaimSize::full}) {
    const ClaimResult result = stored_result(file, size);
    if (!is_judged(result.verdict) || (size == ClaimSize::full && file.has_one_size)) continue;
    section.plots.push_back(claim_plot(claim_at(file, size), stored_claims(size).evidence));
    section.plots.back().title = size == ClaimSize::full ? "At full size" : "Seeds";
  }
  return {.sections = {std::move(section)}};
}

void add_name(const std::string& name, std::vector<std::string>& names) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

}  // namespace

std::vector<std::string> encodings_of(const ClaimFile& file) {
  std::vector<std::string> names;
  for (const Rule& rule : file.claim.rules) {
    for (const ClaimCell* cell : cells_of(rule)) add_name(spec_name(cell->encoding), names);
  }
  return names;
}

std::vector<std::string> tasks_of(const ClaimFile& file) {
  std::vector<std::string> names;
  for (const Rule& rule : file.claim.rules) {
    for (const ClaimCell* cell : cells_of(rule))
      add_name(spec_name(file.tasks.at(cell->task).at(ClaimSize::reduced)), names);
  }
  return names;
}

Table claims_table(std::span<const ClaimFile* const> files) {
  Table table{{{"claim", Align::left, Names::claims},
               {"confirmation"},
               {"exploration"},
               {"full size"},
               {"statement"},
               {"kind"}},
              {}};
  for (const ClaimFile* file : files) {
    const Claim& claim = file->claim;
    table.rows.push_back({claim.name, confirmation_cell(stored_result(*file, ClaimSize::confirmation)),
                          verdict_cell(stored_result(*file, ClaimSize::reduced).verdict),
                          verdict_cell(stored_result(*file, ClaimSize::full).verdict), claim.statement,
                          to_string(claim.kind)});
  }
  return table;
}

std::vector<const ClaimFile*> claims_about(const std::string& name,
                                           std::vector<std::string> (*names_of)(const ClaimFile&)) {
  std::vector<const ClaimFile*> files;
  for (const ClaimFile& file : claim_files()) {
    const std::vector<std::string> names = names_of(file);
    if (std::ranges::find(names, name) != names.end()) files.push_back(&file);
  }
  return files;
}

void add_claims(const std::vector<const ClaimFile*>& files, Document& document) {
  if (files.empty()) return;
  document.blocks.push_back(Heading{"Claims"});
  document.blocks.push_back(claims_table(files));
}

Document claim_document(const ClaimFile& file) {
  const Claim& claim = file.claim;
  Document document{.title = fmt::format("{} (claim, {})", claim.name, claim.family),
                    .blocks = {Text{claim.statement}}};
  std::vector<std::string> published;
  for (const Published& number : claim.published)
    published.push_back(fmt::format("{}: {:g} ({})", number.encoding, number.value, number.what));
  document.blocks.push_back(
      Facts{{{"encodings", fmt::format("{}", fmt::join(encodings_of(file), ", ")), Names::encodings},
             {"tasks", fmt::format("{}", fmt::join(tasks_of(file), ", ")), Names::tasks},
             {"source", claim.source},
             {"kind", to_string(claim.kind)},
             {"source read", fmt::format("{}: {}", claim.read_from, claim.read_where)},
             {"published", fmt::format("{}", fmt::join(published, "\n"))},
             {"metric", metric_info(claim.metric).title}}});
  if (claim.confirm) add_verdict(file, ClaimSize::confirmation, document);
  add_verdict(file, ClaimSize::reduced, document);
  if (!file.has_one_size) add_verdict(file, ClaimSize::full, document);
  document.page = [&file] { return evidence_page(file); };
  return document;
}

}  // namespace posbench
