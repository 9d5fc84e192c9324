// Makes the pages of encodings, tasks and claims of a site.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "results/document/page.h"
#include "results/presentation/board_page.h"
#include "results/presentation/claims_page.h"
#include "results/presentation/claims_text.h"
#include "results/presentation/encoding_card.h"
#include "results/presentation/encoding_overview.h"
#include "results/presentation/report_page.h"
#include "results/presentation/report_page_options.h"
#include "results/presentation/site_parts.h"

namespace posbench {
namespace {

constexpr const char* kRoot = "../";  // all these pages are in folders of the site

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<const SiteClaim*> claims_about(const SiteSource& source, std::vector<std::string> SiteClaim::*names,
                                           const std::string& name) {
  std::vector<const SiteClaim*> claims;
  for (const SiteClaim& claim : source.contents.claims) {
    if (has(claim.*names, name)) claims.push_back(&claim);
  }
  return claims;
}

void add_description(const SiteEncoding& encoding, SiteText& text) {
  text.begin_section("definition", "Definition");
  if (!encoding.about.equation.empty()) text.add_lines(encoding.about.equation);
  std::string used_in, aliases;
  for (const std::string& model : encoding.about.used_in) used_in += (used_in.empty() ? "" : ", ") + model;
  for (const std::string& alias : encoding.aliases) aliases += (aliases.empty() ? "" : ", ") + alias;
  std::vector<SiteFact> facts{{"also called", aliases},
                              {"family", encoding.about.family},
                              {"source", encoding.about.source},
                              {"used in", used_in}};
  facts.insert(facts.end(), encoding.facts.begin(), encoding.facts.end());
  text.add_facts(facts);
  if (encoding.options.rows.empty()) return;
  text.add_heading("Options");
  text.add_table("Options", {encoding.options});
}

/// Adds the results of an encoding, with links to the tasks and to the best encodings.
void add_card(const EncodingCard& card, SiteText& text) {
  if (card.board.tasks.empty()) {
    text.begin_section("on-tasks", "Tasks");
    text.add_paragraph(no_result_text(card));
    return;
  }
  text.begin_section("aspects", "Aspects");
  text.add_paragraph(scores_text(card));
  text.add_table("Scores by aspect", {aspect_table(card.aspects)});
  text.begin_section("lengths", "Effective lengths");
  text.add_paragraph(lengths_text(card));
  if (card.lengths) text.add_table("Effective lengths", {length_table(*card.lengths), {{0, Named::task}}});
  text.begin_section("on-tasks", "Tasks");
  text.add_paragraph(overview_text(card.board));
  for (OverviewTable& part : overview_tables(card.board, /*with_lengths=*/false)) {
    const size_t best = part.table.columns.size() - 2;  // the best encoding of the task; its mean is last
    const std::string title = part.title.substr(0, part.title.size() - 1);
    text.add_heading(title);
    text.add_table(title, {std::move(part.table), {{0, Named::task}, {best, Named::encoding}}});
  }
  text.add_links("In the same tier on every task that both have", Named::encoding, card.equal);
}

void add_claims(const std::vector<const SiteClaim*>& claims, SiteText& text) {
  if (claims.empty()) return;
  text.begin_section("claims", "Claims");
  text.add_table("Claims", claim_rows(claims));
}

/// Returns the experiments and the baselines of one task.
Report select_task(const Report& report, const std::string& task) {
  Report one;
  for (const TaskBaseline& baseline : report.tasks) {
    if (baseline.task == task) one.tasks.push_back(baseline);
  }
  for (const ExperimentResult& experiment : report.experiments) {
    if (experiment.id.task == task) one.experiments.push_back(experiment);
  }
  return one;
}

void add_results(const SiteSource& source, const BoardTask& task, SiteText& text) {
  text.begin_section("encodings", "Encodings");
  text.add_paragraph(task_summary_text(task, source.board.options));
  text.add_table(fmt::format("Encodings on {}", task.task), {board_table(task), {{0, Named::encoding}}});
  Board board{.options = source.board.options, .tasks = {task}};
  for (const std::string& note : board_length_notes(board)) text.add_paragraph(note);
  for (const std::string& note : board_notes(board, source.contents.texts)) text.add_paragraph(note);
}

std::string rules_text(const Claim& claim, const ClaimResult& result) {
  std::string text;
  for (size_t r = 0; r < claim.rules.size(); ++r) {
    const std::string published = published_text(claim, claim.rules[r]);
    text += fmt::format("{}{}: {}; found {}{}", r == 0 ? "" : "\n", rule_text(claim.rules[r]),
                        to_string(result.rules[r].verdict), found_text(result.rules[r]),
                        published == "-" ? "" : ", published " + published);
  }
  return text;
}

std::string numbers_text(const Claim& claim) {
  std::string text;
  for (const Published& number : claim.published)
    text += fmt::format("{}{}: {:g} ({})", text.empty() ? "" : "\n", number.encoding, number.value, number.what);
  return text;
}

/// Adds the verdict on a claim at one size, its plot, and the command that repeats it.
void add_verdict(const SiteSource& source, const Claim& claim, const ClaimResult& result, bool is_full,
                 SiteText& text, Section& plots) {
  text.add_facts(std::vector<SiteFact>{{"verdict", to_string(result.verdict)},
                                       {"reason", result.reason},
                                       {"rules", rules_text(claim, result)},
                                       {"differs", claim.comparable ? claim.differs : ""}});
  if (!claim.comparable) return;
  text.add_lines(fmt::format("posbench reproduce {}{}", is_full ? "--full " : "", claim.name));
  if (!is_judged(result.verdict)) return;
  Plot plot = claim_plot(claim, result, source.contents.evidence);
  plot.title = is_full ? "Evidence at the published size" : "Evidence";
  plot.about =
      "A dot is a seed, a colored bar the mean. The red bar is the threshold: the mean of the encoding that is claimed to be "
      "higher must be above it, and nine in ten seeds must reach a claimed level. A gray diamond is the published value.";
  plots.plots.push_back(std::move(plot));
}

}  // namespace

SiteFile make_encoding_page(const SiteSource& source, const SiteEncoding& encoding) {
  const SiteContents& contents = source.contents;
  const std::string& name = encoding.about.name;
  const EncodingCard card = make_card(encoding.about, contents.board, source.board, contents.aspects, {});
  Page page{.title = fmt::format("{} (encoding, {})", name, encoding.about.family)};
  SiteText text(source, kRoot);
  add_description(encoding, text);
  add_card(card, text);
  add_claims(claims_about(source, &SiteClaim::encodings, name), text);
  if (std::vector<Plot> plots = card_plots(card); !plots.empty())
    page.sections.push_back({"Plots", "", std::move(plots)});
  return {source.addresses.find(Named::encoding, name), to_html(page, std::move(text).finish())};
}

SiteFile make_task_page(const SiteSource& source, const SiteTask& task) {
  const SiteContents& contents = source.contents;
  Page page{.title = fmt::format("{} (task, {})", task.name, task.family)};
  SiteText text(source, kRoot);
  text.begin_section("definition", "Definition");
  text.add_facts(task.facts);
  if (!task.options.rows.empty()) {
    text.add_heading("Options");
    text.add_table("Options", {task.options});
  }
  if (!task.splits.rows.empty()) {
    text.begin_section("splits", "Splits");
    text.add_table("Splits", {task.splits});
  }
  const Report report = select_task(contents.board.report, task.name);
  const auto found = std::ranges::find(source.board.tasks, task.name, &BoardTask::task);
  if (found != source.board.tasks.end()) {
    add_results(source, *found, text);
  } else {
    text.begin_section("encodings", "Encodings");
    text.add_paragraph(fmt::format("The board has no result of it. 'posbench run -t {}' makes some.", task.name));
  }
  add_claims(claims_about(source, &SiteClaim::tasks, task.name), text);
  const SitePart part = std::move(text).finish();
  const std::string address = source.addresses.find(Named::task, task.name);
  if (report.experiments.empty()) return {address, to_html(page, part)};
  std::vector<Section> sections;
  for (const TaskBaseline& baseline : report.tasks)
    sections.push_back({"Seeds", "A dot is a seed, and a bar the mean. The cost is at the right of a row.",
                        seed_plots(contents.board, baseline, source.board.options)});
  const PageOptions options{.family = contents.texts.family, .style = contents.texts.style, .inspections = {}};
  return {address, make_page(report, std::move(page), std::move(sections), options, AddedSections::task, part)};
}

SiteFile make_claim_page(const SiteSource& source, const SiteClaim& one) {
  const Claim& claim = one.claim;
  Page page{.title = fmt::format("{} (claim, {})", claim.name, to_string(one.result.verdict))};
  SiteText text(source, kRoot);
  text.add_paragraph(claim.statement);
  text.add_links("Encodings", Named::encoding, one.encodings);
  text.add_links("Tasks", Named::task, one.tasks);
  text.begin_section("source", "Source");
  text.add_facts(std::vector<SiteFact>{{"source", claim.source},
                                       {"kind", to_string(claim.kind)},
                                       {"read", fmt::format("{}: {}", claim.read_from, claim.read_where)},
                                       {"published", numbers_text(claim)},
                                       {"metric", metric_info(claim.metric).title},
                                       {"predicted", claim.expected}});
  Section plots{"Plots", "", {}};
  text.begin_section("verdict", "Verdict");
  add_verdict(source, claim, one.result, /*is_full=*/one.has_one_size, text, plots);
  if (!one.has_one_size) {
    text.begin_section("full", "Verdict at the published size");
    add_verdict(source, one.full_claim, one.full_result, /*is_full=*/true, text, plots);
  }
  if (!plots.plots.empty()) page.sections.push_back(std::move(plots));
  return {source.addresses.find(Named::claim, claim.name), to_html(page, std::move(text).finish())};
}

SiteFile make_claims_index(const SiteSource& source) {
  std::vector<Claim> reduced, full;
  std::vector<ClaimResult> reduced_results, full_results;
  for (const SiteClaim& one : source.contents.claims) {
    reduced.push_back(one.claim);
    reduced_results.push_back(one.result);
    if (!is_judged(one.full_result.verdict)) continue;
    full.push_back(one.full_claim);
    full_results.push_back(one.full_result);
  }
  Page page{.title = "Claims of papers about position encodings"};
  page.notes = {
      "The index lists all claims. Each has a page with its rules, its source and the seeds that decide it."};
  SiteText text(source, "");
  const auto add = [&](const std::string& id, const std::string& size, const std::vector<Claim>& claims,
                       const std::vector<ClaimResult>& results) {
    text.begin_section(id, fmt::format("Verdicts at the {} size", size));
    text.add_paragraph(fmt::format("{} claims: {}.", claims.size(), count_verdicts(results)));
    text.add_table(fmt::format("Verdicts by family, {} size", size),
                   {count_claims(claims, results, "family", &Claim::family)});
    text.add_table(fmt::format("Verdicts by kind, {} size", size),
                   {count_claims(claims, results, "kind", [](const Claim& one) { return to_string(one.kind); })});
    Section section{fmt::format("Published and found, {} size", size), "", {}};
    section.plots = published_plots(claims, results, source.contents.evidence, [&](const Claim& claim) {
      return source.addresses.find(Named::claim, claim.name);
    });
    if (!section.plots.empty()) page.sections.push_back(std::move(section));
  };
  add("reduced", "reduced", reduced, reduced_results);
  if (!full.empty()) add("full", "published", full, full_results);
  return {"claims.html", to_html(page, std::move(text).finish())};
}

}  // namespace posbench
