#include "harness/commands/site_index.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "encodings/aliases.h"
#include "harness/console/selection.h"
#include "harness/runs/claims.h"
#include "harness/runs/page_options.h"
#include "harness/runs/provenance.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/claims_page.h"
#include "results/presentation/claims_text.h"
#include "results/presentation/over_tasks_text.h"
#include "results/presentation/report_page.h"
#include "results/statistics/over_tasks.h"

namespace posbench {
namespace {

/// The number of tasks of an encoding, and its cost.
struct BoardCounts {
  int tasks = 0, learned = 0, in_first_tier = 0;
  std::string cost;
};

/// Returns the counts of each encoding. Marked tasks do not count.
std::map<std::string, BoardCounts> count_tasks(const Board& board) {
  std::map<std::string, BoardCounts> counts;
  for (const BoardTask& task : board.tasks) {
    for (const BoardRow& row : task.rows) {
      BoardCounts& count = counts[row.encoding];
      count.cost = cost_text(row);
      if (!task.mark.empty()) continue;
      ++count.tasks;
      count.learned += row.status != Verdict::not_learned ? 1 : 0;
      count.in_first_tier += row.tier == 1 ? 1 : 0;
    }
  }
  return counts;
}

/// Returns the tasks that the most encodings ran.
Board select_common_tasks(const Board& board) {
  size_t most = 0;
  for (const BoardTask& task : board.tasks) most = std::max(most, task.summary.encodings);
  Board common{.options = board.options, .tasks = {}};
  for (const BoardTask& task : board.tasks) {
    if (task.summary.encodings == most) common.tasks.push_back(task);
  }
  return common;
}

/// Returns the interquartile mean of an encoding, or "-".
std::string mean_text(const OverTasks& over, const std::string& encoding) {
  const auto found = std::ranges::find(over.rows, encoding, &OverTasksRow::encoding);
  return found == over.rows.end() ? "-" : estimate_text(found->interquartile_mean);
}

/// Returns the encodings with the highest interquartile mean first, then those without one.
std::vector<std::string> sort_encodings(const Site& site, const OverTasks& common) {
  std::vector<std::string> sorted = site.encodings;
  std::ranges::stable_sort(sorted, {}, [&](const std::string& name) {
    return std::ranges::find(common.rows, name, &OverTasksRow::encoding) - common.rows.begin();
  });
  return sorted;
}

void add_encodings(const Site& site, Document& document) {
  const Board& board = site.results.board;
  const OverTasks common = summarize_over_tasks(select_common_tasks(board)), all = summarize_over_tasks(board);
  Table table{{{"encoding", Align::left, Names::encodings},
               {"family"},
               {fmt::format("over {} tasks (95 %)", common.tasks.size()), Align::right},
               {fmt::format("over {} tasks (95 %)", all.tasks.size()), Align::right},
               {"tier 1 on", Align::right},
               {"learned", Align::right},
               {"tasks", Align::right},
               {"cost", Align::right},
               {"claims", Align::right},
               {"also called"}},
              {}};
  std::map<std::string, BoardCounts> counts = count_tasks(board);
  for (const std::string& name : sort_encodings(site, common)) {
    const BoardCounts& count = counts[name];
    table.rows.push_back({name, family_of(name), mean_text(common, name), mean_text(all, name),
                          fmt::format("{}", count.in_first_tier), fmt::format("{}", count.learned),
                          fmt::format("{}", count.tasks), count.cost.empty() ? "-" : count.cost,
                          fmt::format("{}", claims_about(name, encodings_of).size()),
                          fmt::format("{}", fmt::join(aliases_of(name), ", "))});
  }
  document.blocks.push_back(Heading{"Encodings"});
  document.blocks.push_back(std::move(table));
  document.blocks.push_back(Note{fmt::format(
      "over {} tasks: the interquartile mean of the sequence accuracy out of distribution, on the tasks that all or most "
      "encodings ran: {}. In brackets, 95 % by resampling tasks and seeds. The next column has the same "
      "over all {} tasks that an encoding of the board has learned, for encodings that ran all of them.",
      common.tasks.size(), fmt::join(common.tasks, ", "), all.tasks.size())});
  document.blocks.push_back(Note{
      "tier 1 on: tasks on which the seeds cannot tell the encoding from the best. learned: tasks on which at least half of the "
      "seeds learn the training distribution. tasks: tasks that it ran. cost: core time of a training step; plain attention "
      "has 1."});
  const std::vector<std::string> marked = marked_tasks(board);
  if (!marked.empty()) document.blocks.push_back(Note{marked_text(marked)});
}

void add_tasks(const Site& site, Document& document) {
  const Board& board = site.results.board;
  Table table{{{"task", Align::left, Names::tasks},
               {"family"},
               {"aspects"},
               {"learned by", Align::right},
               {"0.90 or more", Align::right},
               {"best encoding", Align::left, Names::encodings},
               {"its accuracy", Align::right},
               {"published as"}},
              {}};
  for (const std::string& name : site.tasks) {
    const bool is_known = tasks().contains(spec_name(name));
    const TaskInfo info = is_known ? tasks().find(spec_name(name)).info : TaskInfo{.family = "other"};
    std::vector<Cell> cells{name, info.family, info.aspects.empty() ? "-" : aspects_text(info)};
    const auto found = std::ranges::find(board.tasks, name, &BoardTask::task);
    if (found == board.tasks.end()) {
      cells.insert(cells.end(), {"-", "-", "-", "-"});
    } else {
      const BoardTaskSummary& summary = found->summary;
      cells.insert(cells.end(), {learned_by_text(*found), fmt::format("{}", summary.keep.size()),
                                 summary.best ? name_text(*summary.best) : "-",
                                 summary.best ? accuracy_text(summary.best->mean) : "-"});
    }
    cells.emplace_back(info.published_name);
    table.rows.push_back(std::move(cells));
  }
  document.blocks.push_back(Heading{"Tasks"});
  document.blocks.push_back(std::move(table));
  document.blocks.push_back(Note{
      "learned by: encodings of which at least half of the seeds learn the training distribution. 0.90 or more, best "
      "encoding: of those, by the sequence accuracy out of distribution."});
  if (!marked_tasks(board).empty()) document.blocks.push_back(Note{kAboutMarks});
}

/// Claims with their results at one size.
struct Judged {
  std::vector<Claim> claims;
  std::vector<ClaimResult> results;
};

/// Returns the claims at a size; at full size only those that runs have decided.
Judged judged_claims(ClaimSize size) {
  Judged judged;
  for (const ClaimFile& file : claim_files()) {
    ClaimResult result = stored_result(file, size);
    if (size != ClaimSize::reduced && !is_judged(result.verdict)) continue;
    judged.claims.push_back(claim_at(file, size));
    judged.results.push_back(std::move(result));
  }
  return judged;
}

void add_claims(Document& document) {
  const Judged judged = judged_claims(ClaimSize::reduced);
  std::vector<const ClaimFile*> files;
  for (const ClaimFile& file : claim_files()) files.push_back(&file);
  document.blocks.push_back(Heading{"Claims"});
  document.blocks.push_back(claims_table(files));
  document.blocks.push_back(Note{fmt::format(
      "Exploration, verdicts of runs whose settings or rules changed: {}. Confirmation, verdicts of runs with "
      "seeds that were registered before: {}. Kinds: {}. The column 'full size' has the verdicts at the "
      "published size or the closest that was trained.",
      count_verdicts(judged.results), count_verdicts(judged_claims(ClaimSize::confirmation).results),
      claim_kinds(judged.claims))});
}

/// Returns the encodings that are best over all tasks, and rotary positions.
std::string finding(const Board& board) {
  constexpr size_t kBest = 3;
  const OverTasks over = summarize_over_tasks(board);
  std::vector<std::string> shown;
  for (const OverTasksRow& row : over.rows) {
    if (shown.size() < kBest || row.encoding == "rope")
      shown.push_back(fmt::format("{} {}", row.encoding, estimate_text(row.interquartile_mean)));
  }
  return fmt::format(
      "No position encoding is best on all tasks. Over {} tasks, at lengths and distances beyond the trained ones, these have "
      "the greatest interquartile mean of the sequence accuracy, with rotary positions beside them: {}.",
      over.tasks.size(), fmt::join(shown, ", "));
}

/// Returns the accuracies of three encodings at multiples of the trained length.
Page picture(const Report& reference) {
  std::vector<Report> part{reference};
  select({.tasks = "counting,flip_flop,last_x_retrieval", .encodings = "rope,alibi,cope"}, part);
  Page page{.plots_first = true};
  add_report_plots(part.front(), page_options(), AddedSections::task, page);
  page.sections.resize(1);
  return page;
}

}  // namespace

Document index_document(const Site& site) {
  const Board& board = site.results.board;
  Document document{.title = "posbench: position encodings of transformers", .blocks = {}};
  document.blocks = {
      Text{finding(board)},
      Text{fmt::format("This site has a page for each of {} position encodings, {} synthetic tasks and {} claims. "
                       "The board has results of small transformers on {} of the tasks.",
                       encodings().names().size(), tasks().names().size(), claim_files().size(),
                       board.tasks.size())}};
  for (const std::string& warning : site.results.all.warnings) document.blocks.push_back(Text{"Note: " + warning});
  document.blocks.push_back(Heading{"Cite"});
  document.blocks.push_back(Text{citation(), /*is_preformatted=*/true});
  document.blocks.push_back(Heading{"Source and submissions"});
  document.blocks.push_back(Text{
      fmt::format("{}. The results of your own encoding join the board with 'posbench site --submissions RUN'. "
                  "results/data/submissions/README.md of the source states how to submit a report.",
                  version())});
  document.page = [&site] { return picture(site.reference.report); };
  add_encodings(site, document);
  add_tasks(site, document);
  add_claims(document);
  return document;
}

Document claims_document(const FindPage& find_page) {
  Document document{
      .title = "Claims of papers about position encodings",
      .blocks = {Text{"Each claim has a page with its rules, its source and the seeds that decide it."}}};
  Page page;
  for (const ClaimSize size : {ClaimSize::reduced, ClaimSize::full}) {
    const Judged judged = judged_claims(size);
    const std::string name = to_string(size);
    document.blocks.push_back(Text{fmt::format("Published against found, {} size: {}.", name,
                                               published_contrasts_text(judged.claims, judged.results))});
    document.blocks.push_back(Text{
        fmt::format("{} claims at the {} size: {}.", judged.claims.size(), name, count_verdicts(judged.results))});
    page.sections.push_back(
        {fmt::format("Published and found, {} size", name), "",
         published_plots(judged.claims, judged.results, stored_claims(size).evidence,
                         [&](const Claim& claim) { return find_page(Names::claims, claim.name); })});
  }
  document.page = [page] { return page; };
  add_claims(document);
  return document;
}

}  // namespace posbench
