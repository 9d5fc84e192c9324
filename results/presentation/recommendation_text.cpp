#include "results/presentation/recommendation_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/presentation/accuracy_text.h"
#include "results/presentation/board_text.h"
#include "results/statistics/learned.h"

namespace posbench {
namespace {

std::string score_text(const AspectScore& score) {
  return fmt::format("{} ({:.2f} to {:.2f})", accuracy_text(score.mean), score.interval.low, score.interval.high);
}

/// Returns "7 of 11, 0.83".
std::string kept_text(const AtLength& at) {
  return fmt::format("{} of {}, {}", at.kept, at.tasks.size(), accuracy_text(at.mean));
}

/// Returns "dyck (ood_length4), flip_flop": the splits in brackets decide, or else the grid.
std::string basis_text(const LengthTasks& tasks) {
  std::vector<std::string> texts;
  for (const LengthTask& task : tasks.tested) {
    texts.push_back(task.basis == LengthBasis::grid
                        ? task.task
                        : fmt::format("{} ({})", task.task, fmt::join(task.splits, ", ")));
  }
  return texts.empty() ? "no task" : fmt::format("{}", fmt::join(texts, ", "));
}

bool has_basis(const Recommendations& found, LengthBasis basis) {
  return std::ranges::any_of(found.lengths, [basis](const LengthTasks& tasks) {
    return std::ranges::any_of(tasks.tested, [basis](const LengthTask& task) { return task.basis == basis; });
  });
}

/// Returns the rule for the length, and for each aspect the tasks and splits that decide and those that are left
/// out.
std::vector<std::string> length_notes(const Recommendations& found, const Need& need) {
  std::vector<std::string> notes{fmt::format(
      "At {0}x: the number of tasks that are kept, then the mean sequence accuracy over tasks and seeds, without an "
      "interval: at the first tested multiple of a grid from {0} on, or on the splits from {0} times the trained length "
      "on. A task counts as 0 if the encoding was not tested there. A task is kept if more than half of the seeds have "
      "{1:.2f} or more there, and with a grid also at every smaller multiple. The encodings keep {2:.0f} % or more of the "
      "tasks of each aspect.",
      *need.length, kKept, 100 * need.share)};
  notes.emplace_back(
      !has_basis(found, LengthBasis::grid)
          ? "The splits in brackets decide, because some reports have no grid of lengths (evaluation.grid)."
      : has_basis(found, LengthBasis::splits)
          ? "The effective length decides for all encodings if each that learned the task has a grid of lengths, and "
            "otherwise the splits in brackets."
          : "The effective length decides: each encoding that learned one of the tasks has a grid of lengths on it.");
  for (size_t n = 0; n < need.aspects.size(); ++n) {
    const LengthTasks& tasks = found.lengths[n];
    const std::string basis = basis_text(tasks);
    const bool are_all = basis == fmt::format("{}", fmt::join(need.aspects[n].tasks, ", "));
    if (are_all) continue;  // the tasks are listed above
    std::string text = fmt::format("{} at {}x: {}.", need.aspects[n].aspect, *need.length, basis);
    if (!tasks.too_short.empty())
      text += fmt::format(" Left out, because they were not tested there: {}.", fmt::join(tasks.too_short, ", "));
    if (!tasks.unlearned.empty())
      text += fmt::format(" Left out, because no encoding that ran every task of the aspect has learned them: {}.",
                          fmt::join(tasks.unlearned, ", "));
    notes.push_back(std::move(text));
  }
  return notes;
}

Json write_length(const AtLength& at, const LengthTasks& tasks) {
  Json json;
  json["kept"] = at.kept;
  json["mean"] = at.mean;
  json["tasks"] = Json::array();
  for (size_t n = 0; n < at.tasks.size(); ++n) {
    const std::optional<KeptLength>& kept = at.tasks[n];
    json["tasks"].push_back({{"task", tasks.tested[n].task},
                             {"kept", kept && kept->is_kept},
                             {"from", !kept                  ? "not tested"
                                      : kept->splits.empty() ? "grid"
                                                             : "splits"},
                             {"splits", kept ? Json(kept->splits) : Json::array()},
                             {"values", kept ? Json(kept->values) : Json::array()}});
  }
  return json;
}

}  // namespace

Table recommendation_table(const Recommendations& found, const Need& need) {
  Table table{{{"encoding"}}, {}};
  for (const AspectTasks& aspect : need.aspects) {
    table.columns.push_back({aspect.aspect, Align::right});
    if (need.length)
      table.columns.push_back({fmt::format("{} at {}x", aspect.aspect, *need.length), Align::right});
  }
  table.columns.push_back({"cost", Align::right});
  for (const Recommendation& one : found.encodings) {
    if (!one.keeps_length) continue;
    std::vector<Cell> cells{one.encoding};
    for (size_t n = 0; n < one.scores.size(); ++n) {
      cells.emplace_back(score_text(one.scores[n]));
      if (need.length) cells.emplace_back(kept_text(one.at_length[n]));
    }
    cells.emplace_back(one.cost ? fmt::format("{:.1f}x", *one.cost) : "-");
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<std::string> recommendation_notes(const Recommendations& found, const Need& need) {
  std::vector<std::string> notes{
      "Score: token accuracy out of distribution, rescaled so that the best trivial predictor has 0 and the right answers "
      "have 1, mean over tasks; in brackets, 95 % by bootstrap over tasks and seeds. Encodings are sorted by the mean of "
      "the scores.",
      "Cost: core time of a training step at the size of the profile quick; plain attention is 1."};
  if (!found.incomplete.empty()) {
    notes.push_back(fmt::format(
        "{} of {} encodings of the board{} are left out, because they did not run every task of these aspects; "
        "'posbench board -t TASK' shows all encodings that ran a task.",
        found.incomplete.size(), found.incomplete.size() + found.encodings.size(),
        need.cost ? " at this cost" : ""));
  }
  for (const AspectTasks& aspect : need.aspects) {
    notes.push_back(fmt::format("{}: {}", aspect.aspect, fmt::join(aspect.tasks, ", ")));
    if (!aspect.marked.empty()) notes.back() += ". " + marked_text(aspect.marked);
  }
  if (!need.length) return notes;
  for (std::string& note : length_notes(found, need)) notes.push_back(std::move(note));
  return notes;
}

std::string no_recommendation_text(const Recommendations& found, const Need& need) {
  if (found.encodings.empty())
    return fmt::format("no encoding of the board ran every task of these aspects{}",
                       need.cost ? fmt::format(" at --cost {}; choose fewer aspects or raise --cost", *need.cost)
                                 : "; choose fewer aspects");
  for (size_t n = 0; n < found.lengths.size(); ++n) {
    if (found.lengths[n].tested.empty()) {
      return fmt::format(
          "no task of the aspect '{}' that an encoding has learned was tested at {} times the trained length; "
          "lower --length",
          need.aspects[n].aspect, *need.length);
    }
  }
  const auto kept = [](const Recommendation& one) {
    double share = 1;
    for (const AtLength& at : one.at_length)
      share = std::min(share, at.kept / static_cast<double>(at.tasks.size()));
    return share;
  };
  const Recommendation& best = *std::ranges::max_element(found.encodings, {}, kept);
  if (kept(best) == 0 && found.lengths.size() == 1) {
    return fmt::format(
        "none of the {} encodings{} that ran every task keeps {}x on any of {} tasks; lower --length",
        found.encodings.size(), need.cost ? " at this cost" : "", *need.length,
        found.lengths.front().tested.size());
  }
  std::vector<std::string> counts;
  for (size_t n = 0; n < need.aspects.size(); ++n) {
    counts.push_back(fmt::format("{} on {} of {} tasks", need.aspects[n].aspect, best.at_length[n].kept,
                                 best.at_length[n].tasks.size()));
  }
  const std::string others =
      found.incomplete.empty()
          ? ""
          : fmt::format(
                "; {} other encodings did not run every task ('posbench board -t TASK' shows all of one task)",
                found.incomplete.size());
  return fmt::format(
      "none of the {} encodings{} that ran every task keeps {}x on {:.0f} % of the tasks of each aspect; the closest is "
      "{}: {}; lower --length or --share{}",
      found.encodings.size(), need.cost ? " at this cost" : "", *need.length, 100 * need.share, best.encoding,
      fmt::join(counts, ", "), others);
}

Json to_json(const Recommendations& found, const Need& need) {
  Json json;
  json["aspects"] = write_list(need.aspects, [](const AspectTasks& aspect) {
    return Json{{"aspect", aspect.aspect}, {"tasks", aspect.tasks}, {"marked", aspect.marked}};
  });
  if (need.length) {
    json["length"] = *need.length;
    json["share"] = need.share;
    for (size_t n = 0; n < found.lengths.size(); ++n) {
      Json& aspect = json["aspects"][n];
      aspect["at_length"] = write_list(found.lengths[n].tested, [](const LengthTask& task) {
        return Json{{"task", task.task}, {"grid", task.basis == LengthBasis::grid}, {"splits", task.splits}};
      });
      aspect["too_short"] = found.lengths[n].too_short;
      aspect["unlearned"] = found.lengths[n].unlearned;
    }
  }
  json["incomplete"] = found.incomplete;
  json["encodings"] = Json::array();
  for (const Recommendation& one : found.encodings) {
    if (!one.keeps_length) continue;
    Json scores = Json::array();
    for (size_t n = 0; n < one.scores.size(); ++n) {
      const AspectScore& score = one.scores[n];
      scores.push_back({{"score", score.mean},
                        {"low", score.interval.low},
                        {"high", score.interval.high},
                        {"learned", score.learned}});
      if (need.length) scores.back()["at_length"] = write_length(one.at_length[n], found.lengths[n]);
    }
    json["encodings"].push_back({{"encoding", one.encoding},
                                 {"cost", one.cost ? Json(*one.cost) : Json(nullptr)},
                                 {"scores", std::move(scores)}});
  }
  return json;
}

}  // namespace posbench
