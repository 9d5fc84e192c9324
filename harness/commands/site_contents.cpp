#include "harness/commands/site_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "encodings/aliases.h"
#include "encodings/registry.h"
#include "harness/commands/options_table.h"
#include "harness/config/embedded_data.h"
#include "harness/console/facts.h"
#include "harness/console/read_board.h"
#include "harness/console/split_text.h"
#include "harness/runs/claims.h"
#include "harness/runs/page_options.h"
#include "harness/runs/provenance.h"
#include "harness/training/task_setup.h"
#include "results/json/json.h"
#include "results/presentation/accuracy_text.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

SiteEncoding describe_encoding(const EncodingEntry& entry) {
  const EncodingInfo& info = entry.info;
  return {.about = {info.name, to_string(info.family), info.equation, info.source, info.used_in},
          .aliases = aliases_of(info.name),
          .facts = encoding_facts(info),
          .options = options_table(entry.options)};
}

/// Returns the splits, with the baselines of the board's report if it has the task.
Table splits_table(const TaskSetup& setup, const TaskBaseline* baseline) {
  Table table{{{"split"}, {"changes"}, {"purpose"}}, {}};
  if (baseline) {
    table.columns.push_back({"chance", Align::right});
    table.columns.push_back({"best trivial predictor", Align::right});
  }
  for (const TaskInfo::Split& split : setup.splits) {
    std::vector<Cell> cells{split.name, split_changes(*setup.info, split), split.why};
    if (baseline) {
      const auto found = std::ranges::find(baseline->splits, split.name, &SplitBaseline::name);
      if (found == baseline->splits.end()) {
        cells.insert(cells.end(), {"-", "-"});
      } else {
        double best = found->chance;
        for (const auto& [name, accuracy] : found->trivial) best = std::max(best, accuracy);
        cells.insert(cells.end(), {accuracy_text(found->chance), accuracy_text(best)});
      }
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

SiteTask describe_task(const TaskEntry& entry, const Report& report) {
  const TaskInfo& info = entry.info;
  const TaskSetup setup = make_task_setup(ExperimentOptions{}, info.name);
  const auto found = std::ranges::find(report.tasks, info.name, &TaskBaseline::task);
  std::vector<SiteFact> facts = task_facts(info);
  facts.push_back({"version", fmt::format("{}", info.version)});
  std::vector<std::string> aliases;
  if (!info.published_name.empty()) aliases.push_back(info.published_name);
  return {.name = info.name,
          .family = info.family,
          .aspects = aspects_text(info),
          .aliases = aliases,
          .facts = std::move(facts),
          .options = options_table(entry.options),
          .splits = splits_table(setup, found == report.tasks.end() ? nullptr : &*found)};
}

/// Adds the encodings and tasks of submissions that are not registered, or that have options.
void add_others(const Report& report, SiteContents& contents) {
  std::set<std::string> known_encodings, known_tasks;
  for (const SiteEncoding& encoding : contents.encodings) known_encodings.insert(encoding.about.name);
  for (const SiteTask& task : contents.tasks) known_tasks.insert(task.name);
  for (const ExperimentResult& experiment : report.experiments) {
    const auto& [task, encoding, seed] = experiment.id;
    if (known_encodings.insert(encoding).second) {
      SiteEncoding other{.about = {encoding, family_of(encoding), "", "a report that was added to the board", {}}};
      contents.encodings.push_back(std::move(other));
    }
    if (!known_tasks.insert(task).second) continue;
    const bool is_registered = tasks().contains(spec_name(task));
    contents.tasks.push_back(is_registered ? describe_task(tasks().find(spec_name(task)), report)
                                           : SiteTask{.family = "other", .splits = {}});
    contents.tasks.back().name = task;
  }
}

void add_name(const std::string& name, std::vector<std::string>& names) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

/// Adds the claims with their stored results and evidence.
void add_claims(SiteContents& contents) {
  const ClaimPlan plan = plan_claims({}, ClaimSize::reduced), full = plan_claims({}, ClaimSize::full);
  contents.evidence = stored_claims(ClaimSize::reduced).evidence;
  const AllEvidence& of_full = stored_claims(ClaimSize::full).evidence;
  contents.evidence.insert(of_full.begin(), of_full.end());
  for (size_t n = 0; n < plan.claims.size(); ++n) {
    const ClaimFile& file = claim_files().at(n);  // all are sorted by name
    SiteClaim claim{.claim = plan.claims[n],
                    .result = stored_result(file, ClaimSize::reduced),
                    .full_claim = full.claims[n],
                    .full_result = stored_result(file, ClaimSize::full),
                    .has_one_size = file.has_one_size,
                    .encodings = {},
                    .tasks = {}};
    for (const Rule& rule : file.claim.rules) {
      for (const ClaimCell* cell : cells_of(rule)) {
        add_name(spec_name(cell->encoding), claim.encodings);
        add_name(spec_name(file.tasks.at(cell->task).at(ClaimSize::reduced)), claim.tasks);
      }
    }
    contents.claims.push_back(std::move(claim));
  }
}

}  // namespace

SiteContents make_site_contents(BoardReport board, const NamedReport& reference) {
  SiteContents contents{
      .version = version(),
      .encodings = {},
      .tasks = {},
      .claims = {},
      .evidence = {},
      .board = std::move(board),
      .aspects = {},
      .texts = {.about = {}, .family = family_of, .style = style_of, .cost_source = board_costs().source},
      .reference = reference};
  const Report& report = contents.board.report;
  for (const std::string& name : encodings().names())
    contents.encodings.push_back(describe_encoding(encodings().find(name)));
  for (const std::string& name : tasks().names())
    contents.tasks.push_back(describe_task(tasks().find(name), report));
  contents.aspects = tasks_by_aspect(contents.board);
  add_others(report, contents);
  add_claims(contents);
  return contents;
}

}  // namespace posbench
