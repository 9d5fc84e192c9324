#include "results/presentation/board_page.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "results/presentation/accuracy_text.h"
#include "results/presentation/over_tasks_text.h"
#include "results/presentation/page_sections.h"
#include "results/presentation/report_page.h"
#include "results/statistics/over_tasks.h"

namespace posbench {
namespace {

Plot strip(const BoardTask& task, const BoardOptions& options) {
  Plot plot{.kind = "strip",
            .title = split_title(task),
            .about = task_summary_text(task, options),
            .columns = {{"row", "encoding"},
                        {"series", "standing"},
                        {"mean", "mean"},
                        {"values", "seeds"},
                        {"threshold", "threshold"},
                        {"need", "need"},
                        {"published", "published"},
                        {"in_distribution", "in distribution"},
                        {"cost", "cost"}}};
  Json labels = Json::object();
  for (const BoardRow& row : all_rows(task)) {
    Json values = Json::array();
    for (const double value : row.values) values.push_back(round_for_page(value));
    plot.rows.push_back({row.encoding, status_text(row), round_for_page(row.mean), std::move(values), nullptr, "",
                         nullptr, row.in_distribution ? round_for_page(*row.in_distribution) : Json(nullptr),
                         row.cost ? round_for_page(*row.cost) : Json(nullptr)});
    labels[row.encoding] = cost_text(row) + (row.unsettled ? " ?" : "");
  }
  plot.signals = {{"x_title", metric_info(options.metric).title}, {"labels", std::move(labels)}};
  plot.details["task"] = task.task;
  return plot;
}

/// Returns a section with a row for each task of the page.
Section summary_section(const Board& board, const std::vector<Section>& tasks) {
  const Table table = board_summary(board);
  Plot plot{.kind = "table", .title = "Summary"};
  for (const std::string& note : board_summary_notes(board)) plot.about += (plot.about.empty() ? "" : "\n") + note;
  plot.details["summary"] = true;
  for (const Column& column : table.columns) plot.columns.push_back({column.header, column.header});
  for (const std::vector<Cell>& cells : table.rows) {
    const auto is_task = [&](const Section& section) { return section.title == cells.front().text; };
    if (std::none_of(tasks.begin(), tasks.end(), is_task)) continue;
    plot.rows.push_back(write_list(cells, [](const Cell& cell) { return cell.text; }));
  }
  return {"Summary", "", {plot}};
}

/// Returns the mean out of distribution and each split, or only the split that the user gave.
std::vector<BoardOptions> shown_splits(const TaskBaseline& task, const BoardOptions& options) {
  std::vector<BoardOptions> all{options};
  if (options.split != to_string(SplitKind::out_of_distribution)) return all;
  for (const SplitBaseline& split : task.splits) {
    all.push_back(options);
    all.back().split = split.name;
  }
  if (task.splits.size() == 2) all.erase(all.begin());  // the mean is over one split, which has a plot of its own
  return all;
}

BoardReport of_task(const BoardReport& all, const TaskBaseline& task) {
  BoardReport one{.user_experiments = all.user_experiments, .costs = all.costs, .find_mark = all.find_mark};
  one.report.tasks = {task};
  for (const ExperimentResult& experiment : all.report.experiments) {
    if (experiment.id.task == task.task) one.report.experiments.push_back(experiment);
  }
  for (const ExperimentResult& experiment : all.recurrent.experiments) {
    if (experiment.id.task == task.task) one.recurrent.experiments.push_back(experiment);
  }
  return one;
}

std::vector<Plot> seed_plots(const BoardReport& all, const TaskBaseline& task, const BoardOptions& options,
                             const ShowsRow& shows) {
  const BoardReport one = of_task(all, task);
  std::vector<Plot> plots;
  for (const BoardOptions& split : shown_splits(task, options)) {
    Board board = make_board(one, split);
    hide_rows(board, shows);
    if (!board.tasks.empty()) plots.push_back(strip(board.tasks[0], split));
  }
  return plots;
}

/// The page of the board without the sections that make_page adds.
struct BoardPage {
  Report shown;
  Page page;
  std::vector<Section> sections;
};

BoardPage begin_board_page(const BoardReport& all, const BoardOptions& options, const BoardTexts& texts,
                           const ShowsRow& shows) {
  std::vector<Section> sections;
  for (const TaskBaseline& task : all.report.tasks) {
    Section section{task.task, texts.about ? texts.about(task.task) : "", seed_plots(all, task, options, shows)};
    for (Plot& plot : section.plots) plot.details["screen"] = true;
    if (!section.plots.empty()) sections.push_back(std::move(section));
  }
  Report shown = all.report;
  std::erase_if(shown.experiments, [&](const ExperimentResult& e) { return !shows(e.id.task, e.id.encoding); });
  Board board = make_board(all, options);
  sections.insert(sections.begin(), summary_section(board, sections));
  hide_rows(board, shows);
  Section over_tasks = over_tasks_section(summarize_over_tasks(board), options);
  if (board.tasks.size() > 1 && !over_tasks.plots.empty())
    sections.insert(sections.begin() + 1, std::move(over_tasks));
  Page page{.title = "The board of position encodings", .legend = board_notes(board, texts)};
  page.legend.push_back("In each plot a dot is a seed, and a bar the mean. The cost is at the right of a row.");
  for (const std::string& warning : all.warnings) page.notes.push_back("Note: " + warning);
  return {std::move(shown), std::move(page), std::move(sections)};
}

PageOptions page_options(const BoardTexts& texts) {
  return {.family = texts.family, .style = texts.style, .inspections = {}};
}

bool show_all(const std::string&, const std::string&) { return true; }

}  // namespace

void hide_rows(Board& board, const ShowsRow& shows) {
  for (BoardTask& task : board.tasks) {
    const auto is_hidden = [&](const BoardRow& row) { return !shows(task.task, row.encoding); };
    std::erase_if(task.rows, is_hidden);
    std::erase_if(task.recurrent, is_hidden);
  }
  std::erase_if(board.tasks, [](const BoardTask& task) { return task.rows.empty() && task.recurrent.empty(); });
}

std::string make_board_page(const BoardReport& all, const BoardOptions& options, const BoardTexts& texts,
                            const ShowsRow& shows) {
  BoardPage begun = begin_board_page(all, options, texts, shows);
  return make_page(begun.shown, std::move(begun.page), std::move(begun.sections), page_options(texts));
}

std::string make_board_page(const BoardReport& all, const BoardOptions& options, const BoardTexts& texts,
                            const SitePart& site) {
  BoardPage begun = begin_board_page(all, options, texts, show_all);
  return make_page(begun.shown, std::move(begun.page), std::move(begun.sections), page_options(texts),
                   AddedSections::board, site);
}

std::vector<Plot> seed_plots(const BoardReport& all, const TaskBaseline& task, const BoardOptions& options) {
  return seed_plots(all, task, options, show_all);
}

}  // namespace posbench
