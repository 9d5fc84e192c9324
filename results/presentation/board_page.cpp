#include "results/presentation/board_page.h"

#include <functional>
#include <utility>
#include <vector>

#include "results/presentation/accuracy_text.h"
#include "results/presentation/page_sections.h"

namespace posbench {
namespace {

Plot strip(const BoardTask& task, const BoardOptions& options) {
  Plot plot{.kind = "strip",
            .title = split_title(task),
            .about = who_has_it(task, options),
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
  for (const BoardRow& row : task.rows) {
    Json values = Json::array();
    for (const double value : row.values) values.push_back(page_number(value));
    plot.rows.push_back({row.encoding, standing_text(row), page_number(row.mean), std::move(values), nullptr, "",
                         nullptr, row.in_distribution ? page_number(*row.in_distribution) : Json(nullptr),
                         row.cost ? page_number(*row.cost) : Json(nullptr)});
    labels[row.encoding] = cost_text(row) + (row.unsettled ? " ?" : "");
  }
  plot.signals = {{"x_title", info(options.metric).title}, {"labels", std::move(labels)}};
  plot.details["task"] = task.task;
  return plot;
}

/// The mean out of distribution, and each split; or only the one that was asked for.
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
  BoardReport one{.user_experiments = all.user_experiments, .costs = all.costs};
  one.report.tasks = {task};
  for (const ExperimentResult& experiment : all.report.experiments) {
    if (experiment.id.task == task.task) one.report.experiments.push_back(experiment);
  }
  return one;
}

}  // namespace

std::string board_page(const BoardReport& all, const BoardOptions& options, const BoardWords& words,
                       const std::function<bool(const std::string& task, const std::string& encoding)>& shows) {
  std::vector<Section> sections;
  for (const TaskBaseline& task : all.report.tasks) {
    const BoardReport one = of_task(all, task);
    Section section{task.task, words.about ? words.about(task.task) : "", {}};
    for (const BoardOptions& split : shown_splits(task, options)) {
      Board board = make_board(one, split);
      if (board.tasks.empty()) continue;
      std::erase_if(board.tasks[0].rows, [&](const BoardRow& row) { return !shows(task.task, row.encoding); });
      if (!board.tasks[0].rows.empty()) section.plots.push_back(strip(board.tasks[0], split));
    }
    if (!section.plots.empty()) sections.push_back(std::move(section));
  }
  Report shown = all.report;
  std::erase_if(shown.experiments, [&](const ExperimentResult& e) { return !shows(e.id.task, e.id.encoding); });
  std::vector<std::string> notes = board_notes(make_board(all, options), words);
  notes.push_back("At the right of a row stands its cost. In each plot a dot is a seed, and a bar the mean.");
  for (const std::string& warning : all.warnings) notes.push_back("Note: " + warning);
  return page_of(shown, "The board of position encodings", std::move(notes), std::move(sections), words.family);
}

}  // namespace posbench
