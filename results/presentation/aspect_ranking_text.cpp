#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/presentation/board_document.h"
#include "results/presentation/over_tasks_text.h"
#include "results/statistics/learned.h"

namespace posbench {
namespace {

const char* basis_word(const LengthTask& task) {
  if (!task.basis) return "nothing";
  constexpr const char* kWords[] = {"far grid", "grid", "splits"};  // in the order of the enumerators
  return kWords[static_cast<size_t>(*task.basis)];
}

Table ranking_table(const AspectRanking& ranking) {
  Table table{{{"encoding"}}, {}};
  if (ranking.length) table.columns.push_back({fmt::format("kept at {}x", *ranking.length), Align::right});
  table.columns.push_back({"learned", Align::right});
  for (const AspectTasks& aspect : ranking.aspects) table.columns.push_back({aspect.aspect, Align::right});
  table.columns.push_back({"cost", Align::right});
  for (const AspectRow& row : ranking.rows) {
    std::vector<Cell> cells{row.is_users ? row.encoding + " *" : row.encoding};
    if (ranking.length) cells.emplace_back(fmt::format("{} of {}", row.kept.size(), row.tested));
    cells.emplace_back(fmt::format("{} of {}", row.learned, row.ran));
    for (const AspectTasks& aspect : ranking.aspects) {
      const auto score = std::ranges::find(row.scores, aspect.aspect, &AspectScore::aspect);
      cells.emplace_back(score == row.scores.end() ? "-" : estimate_text({score->mean, score->interval}));
    }
    cells.emplace_back(row.cost ? fmt::format("{:.1f}x", *row.cost) : "-");
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// Returns the rule for the length, and the tasks by what decides on them.
std::vector<std::string> length_notes(const AspectRanking& ranking) {
  std::vector<std::string> notes{fmt::format(
      "Kept at {0}x: of the learned tasks that were tested at {0} times the trained length, those on which at least half "
      "of the seeds have {1:.2f} of the sequences right there: at the first tested multiple of a grid from {0} on and at "
      "every smaller one, or else on the splits from {0} times the trained length on. The most kept tasks are first, then "
      "the highest mean of the scores.",
      *ranking.length, kKept)};
  const auto add = [&](std::optional<LengthBasis> basis, const std::string& about) {
    std::vector<std::string> names;
    for (const LengthTask& task : ranking.tasks) {
      if (task.basis != basis) continue;
      const std::string splits = fmt::format(" ({})", fmt::join(task.splits, ", "));
      names.push_back(task.task + (task.splits.empty() ? "" : splits));
    }
    if (!names.empty()) notes.push_back(fmt::format("{}: {}.", about, fmt::join(names, ", ")));
  };
  add(LengthBasis::far_grid, "By a grid with the evidence of an answer anywhere in the sequence");
  add(LengthBasis::grid,
      "By a grid with the options as trained, where evidence of an answer is as near as in training");
  add(LengthBasis::splits, "An encoding that learned these has no grid, so splits decide for all");
  add({}, fmt::format("Not tested at {}x with every encoding that learned them", *ranking.length));
  return notes;
}

std::vector<std::string> ranking_notes(const AspectRanking& ranking) {
  std::vector<std::string> notes;
  if (ranking.length) notes = length_notes(ranking);
  notes.push_back(fmt::format(
      "Learned: tasks of these aspects on which at least half of the seeds have {} or more in distribution, of those "
      "that the encoding ran.",
      kLearned));
  notes.emplace_back(
      "Score of an aspect: token accuracy out of distribution, rescaled so that the best trivial predictor has 0 and the "
      "right answers have 1, mean over all tasks, learned or not; in brackets, 95 % by bootstrap over tasks and seeds.");
  notes.emplace_back("Cost: core time of a training step at the size of the profile quick; plain attention is 1.");
  if (std::ranges::any_of(ranking.rows, &AspectRow::is_users)) notes.emplace_back("*: from your reports.");
  if (!ranking.incomplete.empty()) {
    notes.push_back(fmt::format(
        "{} of {} encodings are left out, because they did not run every task of these aspects; 'posbench board -t TASK "
        "--full' shows all encodings that ran a task.",
        ranking.incomplete.size(), ranking.incomplete.size() + ranking.rows.size()));
  }
  for (const AspectTasks& aspect : ranking.aspects) {
    notes.push_back(fmt::format("{}: {}.", aspect.aspect, fmt::join(aspect.tasks, ", ")));
    if (!aspect.marked.empty()) notes.back() += " " + marked_text(aspect.marked);
  }
  return notes;
}

Json to_json(const AspectRanking& ranking) {
  Json json;
  json["aspects"] = write_list(ranking.aspects, [](const AspectTasks& aspect) {
    return Json{{"aspect", aspect.aspect}, {"tasks", aspect.tasks}, {"marked", aspect.marked}};
  });
  json["length"] = ranking.length ? Json(*ranking.length) : Json(nullptr);
  json["tasks"] = write_list(ranking.tasks, [](const LengthTask& task) {
    return Json{{"task", task.task}, {"decides", basis_word(task)}, {"splits", task.splits}};
  });
  json["incomplete"] = ranking.incomplete;
  json["encodings"] = write_list(ranking.rows, [](const AspectRow& row) {
    return Json{{"encoding", row.encoding},
                {"own", row.is_users},
                {"ran", row.ran},
                {"learned", row.learned},
                {"tested", row.tested},
                {"kept", row.kept},
                {"cost", row.cost ? Json(*row.cost) : Json(nullptr)},
                {"scores", write_list(row.scores, [](const AspectScore& score) {
                   return Json{{"aspect", score.aspect},
                               {"score", score.mean},
                               {"low", score.interval.low},
                               {"high", score.interval.high},
                               {"learned", score.learned}};
                 })}};
  });
  return json;
}

}  // namespace

Document make_document(const AspectRanking& ranking) {
  std::vector<std::string> names;
  for (const AspectTasks& aspect : ranking.aspects) names.push_back(aspect.aspect);
  Document document{.title = fmt::format("Encodings by {}", fmt::join(names, ", "))};
  document.blocks.emplace_back(ranking_table(ranking));
  add_notes(ranking_notes(ranking), document.blocks);
  document.json = [ranking] { return to_json(ranking); };
  return document;
}

}  // namespace posbench
