#include "results/presentation/report_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "results/presentation/effective_length_text.h"
#include "results/presentation/report_page.h"
#include "results/presentation/report_table.h"
#include "results/reports/summary_json.h"
#include "results/statistics/comparison.h"
#include "results/statistics/separation.h"

namespace posbench {
namespace {

void add_tables(std::vector<TaskTable> tables, Document& document) {
  for (auto& [task, table] : tables) {
    document.blocks.push_back(Text{task});
    document.blocks.push_back(std::move(table));
  }
}

void add_accuracies(const Summary& summary, const ReportChoice& choice, Document& document) {
  if (choice.by_split) {
    add_tables(split_tables(summary, choice.metric), document);
  } else {
    document.blocks.push_back(accuracy_table(summary, choice.metric));
  }
  add_notes(accuracy_notes(summary, choice.metric, choice.by_split), document.blocks);
}

/// Returns the accuracy at each multiple of the trained length.
Document length_document(const Report& report, const Summary& summary) {
  if (!has_grids(summary))
    throw InputError("--by-length needs a report with a grid of lengths; run with --set evaluation.grid=512");
  Document document;
  add_tables(length_tables(report, summary), document);
  document.blocks.push_back(Note{fmt::format(
      "sequence accuracy at multiples of the trained length or distance; far: the evidence is anywhere in the sequence; 0 "
      "beyond two multiples below {:.2f}, where a test ends; -: not tested",
      kGridFloor)});
  return document;
}

/// Throws InputError if an option chooses what CSV and JSON have anyway.
void check_in_use(const ReportChoice& choice) {
  const char* option = choice.by_split ? "--by-split" : choice.metric != Metric::sequence ? "--metric" : nullptr;
  if (option == nullptr) return;
  throw InputError(fmt::format(
      "{} needs --format console, markdown, latex or html; csv and json have every metric and split", option));
}

/// Returns the tasks that separate encodings: those with at least four times the variance over seeds.
Document separation_document(const Summary& summary, Metric metric) {
  constexpr double kRatio = 4;
  if (metric == Metric::effective_length)
    throw InputError("--separation does not have the effective length; choose another --metric");
  const std::vector<Separation> separations = find_separations(summary, SplitKind::out_of_distribution, metric);
  if (separations.empty()) throw InputError("no task has two encodings and two seeds; run with -s 5");
  Table table{.columns = make_columns({"task"}, {"between encodings", "over seeds", "ratio"})};
  table.columns.insert(table.columns.end(), {{"separates"}, {"resolved pairs", Align::right}});
  int separating = 0, seeds = separations.front().seeds;
  for (const Separation& task : separations) {
    separating += task.ratio >= kRatio;
    seeds = std::min(seeds, task.seeds);
    table.rows.push_back({task.task, fmt::format("{:.4f}", task.between), fmt::format("{:.4f}", task.over_seeds),
                          fmt::format("{:.1f}", task.ratio), task.ratio >= kRatio ? "yes" : "no",
                          fmt::format("{} of {}", task.resolved, task.pairs)});
  }
  Document document{.blocks = {std::move(table)}};
  std::vector<std::string> notes{
      fmt::format("{} of {} tasks separate encodings: the variance between the means of the encodings is at least "
                  "{:g} times that over seeds, by {} out of distribution",
                  separating, separations.size(), kRatio, metric_info(metric).title),
      "resolved pairs: pairs of encodings that exact permutation tests distinguish"};
  if (seeds < static_cast<int>(kEnoughSeeds))
    notes.push_back(fmt::format("{} seeds are too few to resolve pairs: run with -s {}", seeds, kEnoughSeeds));
  add_notes(notes, document.blocks);
  return document;
}

}  // namespace

Document make_report_document(std::span<const NamedReport> runs, const ReportChoice& choice,
                              const PageOptions& options, std::optional<Summary> known) {
  const auto all = std::make_shared<const MergedReport>(merge_reports(runs));
  const auto summary = std::make_shared<const Summary>(known ? *std::move(known) : summarize(all->report));
  if (choice.separation) return separation_document(*summary, choice.metric);
  if (choice.by_length) return length_document(all->report, *summary);
  Document document;
  add_accuracies(*summary, choice, document);
  const bool has_ranks = choice.metric != Metric::effective_length || has_grids(*summary);
  if (!choice.by_split && has_ranks) document.blocks.push_back(ranking_table(*summary));
  document.blocks.push_back(unfinished_table(all->report));
  add_notes(memory_notes(all->report), document.blocks);
  add_notes(all->warnings, document.blocks);
  const auto check = [choice] { check_in_use(choice); };
  document.page = [=] { return make_report_page(*all, *summary, runs, options); };
  if (!choice.by_split) document.paper = [=] { return paper_table(*summary, choice.metric); };
  document.rows = [=] {
    check();
    return seed_table(all->report);
  };
  document.json = [=] {
    check();
    return Json{{"summary", Json::array()},
                {"ranking", write_list(summary->ranking, [](const Ranking& r) { return to_json(r); })},
                {"notes", all->warnings}};
  };
  document.json_list = {"summary", summary->rows.size(), [=](size_t i) { return to_json(summary->rows[i]); }};
  return document;
}

Document make_accuracy_document(const SummarizedReport& shown) {
  Document document;
  add_accuracies(shown.summary, {}, document);
  document.blocks.push_back(unfinished_table(shown.report));
  return document;
}

}  // namespace posbench
