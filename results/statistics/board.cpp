#include "results/statistics/board.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "results/statistics/comparable.h"
#include "results/statistics/statistics.h"
#include "results/statistics/tiers.h"

namespace posbench {
namespace {

/// Returns which other program trained the models of the report, and who verified them; "" if posbench did.
std::string trained_elsewhere(const Report& report) {
  if (!report.context.contains(kTrainedElsewhere)) return "";
  const auto text = [&](const char* key, const std::string& otherwise) {
    const auto found = report.context.find(key);
    return found != report.context.end() && found->is_string() ? found->get<std::string>() : otherwise;
  };
  const std::string verified = text("verified_by", "");
  return fmt::format("trained with {}, {}", text(kTrainedElsewhere, "another program"),
                     verified.empty() ? "not verified" : "verified by " + verified);
}

bool has_common_task(const Report& a, const Report& b) {
  return std::ranges::any_of(a.tasks,
                             [&](const TaskBaseline& task) { return find_task(b, task.task) != nullptr; });
}

/// Throws InputError if a report has a task of an earlier one with other samples, splits or settings.
void check(std::span<const NamedReport> earlier, const NamedReport& run, bool allow_different_budget) {
  for (const NamedReport& other : earlier) {
    if (!has_common_task(other.report, run.report)) continue;
    check_comparable(other, run, allow_different_budget);
    for (const TaskBaseline& task : run.report.tasks) {
      const TaskBaseline* same = find_task(other.report, task.task);
      if (!same || same_splits(task, *same)) continue;
      throw InputError(
          to_printable(fmt::format("{}: task '{}' has other splits than in {}", run.name, task.task, other.name)));
    }
  }
}

void add_tasks(const Report& report, Report& all) {
  for (const TaskBaseline& task : report.tasks) {
    if (!find_task(all, task.task)) all.tasks.push_back(task);
  }
}

/// Returns the seconds of a training step, with its share of the tests, as means over seeds, by encoding and task.
std::map<std::pair<std::string, std::string>, double> step_seconds(const Report& report) {
  const std::map<ExperimentId, double> seconds = read_seconds(report);
  std::map<std::pair<std::string, std::string>, std::vector<double>> of_steps;
  for (const ExperimentResult& e : report.experiments) {
    const auto time = seconds.find(e.id);
    if (time != seconds.end() && time->second > 0 && e.steps > 0)
      of_steps[{e.id.encoding, e.id.task}].push_back(time->second / e.steps);
  }
  std::map<std::pair<std::string, std::string>, double> means;
  for (const auto& [key, values] : of_steps) means[key] = mean(values);
  return means;
}

/// Returns the costs of a report's encodings, by those that are known; as means over tasks.
Costs measured_costs(const Report& report, const Costs& known) {
  const auto seconds = step_seconds(report);
  std::map<std::string, std::vector<double>> plain;  // of each task: what a step with plain attention would take
  for (const auto& [key, value] : seconds) {
    const auto cost = known.find(key.first);
    if (cost != known.end()) plain[key.second].push_back(value / cost->second);
  }
  std::map<std::string, std::vector<double>> costs;
  for (const auto& [key, value] : seconds) {
    if (plain.contains(key.second)) costs[key.first].push_back(value / mean(plain.at(key.second)));
  }
  Costs means;
  for (const auto& [encoding, values] : costs) means[encoding] = mean(values);
  return means;
}

void add_stored(const NamedReport& run, std::set<ExperimentId>& seen, Report& to) {
  add_tasks(run.report, to);
  for (const ExperimentResult& experiment : run.report.experiments) {
    if (seen.insert(experiment.id).second) to.experiments.push_back(experiment);
  }
}

/// Returns true if the models see later tokens. Their encodings have other names on the board, since without
/// positions a causal model and a bidirectional one do different things.
bool is_bidirectional(const Report& report) {
  const auto model = report.config.find("model");
  return model != report.config.end() && model->is_object() && model->contains("attention") &&
         (*model)["attention"] == "bidirectional";
}

void add_users(const NamedReport& run, const Costs& known, std::set<ExperimentId>& seen, BoardReport& all,
               Report& to) {
  add_tasks(run.report, to);
  std::set<std::string> taken;  // encodings
  for (const ExperimentId& id : seen) taken.insert(id.encoding);
  const std::string suffix = is_bidirectional(run.report) ? " (bidirectional)" : "";
  const auto name = [&](std::string encoding) {
    encoding += suffix;
    return taken.contains(encoding) ? fmt::format("{} ({})", encoding, run.name) : encoding;
  };
  for (ExperimentResult experiment : run.report.experiments) {
    experiment.id.encoding = name(experiment.id.encoding);
    if (!seen.insert(experiment.id).second) {
      throw InputError(to_printable(
          fmt::format("{}: '{}' on '{}' is also in an earlier report under the same name; give each once",
                      run.name, experiment.id.encoding, experiment.id.task)));
    }
    all.user_experiments.insert(experiment.id);
    to.experiments.push_back(std::move(experiment));
  }
  for (const auto& [encoding, cost] : measured_costs(run.report, known)) {
    const auto found = known.find(encoding);
    all.costs[name(encoding)] = found == known.end() ? cost : found->second;
  }
}

BoardRow make_row(const Report& report, const TaskBaseline& task, const std::vector<std::string>& splits,
                  Metric metric, const Experiments& experiments) {
  BoardRow row{.encoding = experiments.front()->id.encoding};
  const std::vector<std::string> trained = select_splits(task, to_string(SplitKind::in_distribution));
  double sum = 0;
  for (const ExperimentResult* experiment : experiments) {
    row.values.push_back(mean_accuracy(*experiment, splits, metric));
    if (!trained.empty()) sum += mean_accuracy(*experiment, trained, metric);
    row.unfinished += experiment->status != Status::ok;
  }
  row.mean = mean(row.values);
  if (!trained.empty()) row.in_distribution = sum / static_cast<double>(experiments.size());
  row.effective_length = find_effective_length(experiments, "length");
  row.effective_far = find_effective_length(experiments, kFarGrid);
  row.learned = find_learned(report, task, experiments);
  const bool out = std::ranges::any_of(task.splits, [&](const SplitBaseline& split) {
    return split.kind == SplitKind::out_of_distribution && split.name == splits.front();
  });
  if (out && !row.learned.by_half_the_seeds()) row.status = Verdict::not_learned;
  return row;
}

/// Returns the report with the model as the name of its encodings, and otherwise with the settings of the board.
Report named_by_model(Report report, const OtherModel& model) {
  report.config.at("model") = model.settings;
  for (ExperimentResult& experiment : report.experiments) {
    std::string& encoding = experiment.id.encoding;
    encoding = encoding == model.encoding ? model.name : fmt::format("{} ({})", model.name, encoding);
  }
  report.timing = Json::object();  // it has the former name
  return report;
}

/// The experiments of a report, by task and encoding, in their order.
struct GroupedReport {
  const Report& report;
  std::map<std::string, std::vector<std::string>> encodings;  // of each task
  std::map<std::pair<std::string, std::string>, Experiments> experiments;

  explicit GroupedReport(const Report& all) : report(all) {
    for (const ExperimentResult& experiment : report.experiments) {
      auto& same = experiments[{experiment.id.task, experiment.id.encoding}];
      if (same.empty()) encodings[experiment.id.task].push_back(experiment.id.encoding);
      same.push_back(&experiment);
    }
  }
};

/// Returns a row for each encoding that has experiments of the task.
std::vector<BoardRow> make_rows(const BoardReport& all, const GroupedReport& found, const TaskBaseline& task,
                                const std::vector<std::string>& splits, Metric metric) {
  std::vector<BoardRow> rows;
  const auto encodings = found.encodings.find(task.task);
  if (encodings == found.encodings.end()) return rows;
  for (const std::string& encoding : encodings->second) {
    const auto& experiments = found.experiments.at({task.task, encoding});
    BoardRow row = make_row(found.report, task, splits, metric, experiments);
    row.is_users = all.user_experiments.contains(experiments.front()->id);
    const auto cost = all.costs.find(encoding);
    if (cost != all.costs.end()) row.cost = cost->second;
    rows.push_back(std::move(row));
  }
  return rows;
}

int longest_training(const std::vector<ExperimentResult>& experiments, const std::string& task) {
  int steps = 0;
  for (const ExperimentResult& experiment : experiments) {
    if (experiment.id.task == task) steps = std::max(steps, experiment.steps);
  }
  return steps;
}

void find_statuses(std::vector<BoardRow>& rows) {
  std::vector<BoardRow*> tested;
  std::vector<std::vector<double>> values;
  for (BoardRow& row : rows) {
    if (row.status == Verdict::not_learned) continue;
    tested.push_back(&row);
    values.push_back(row.values);
  }
  const std::vector<std::optional<int>> tiers = find_tiers(values);
  for (size_t n = 0; n < tested.size(); ++n) {
    tested[n]->tier = tiers[n];
    if (!tiers[n]) tested[n]->status = Verdict::too_few_seeds;
  }
  const auto place = [](const BoardRow& row) {
    const double shown = row.status == Verdict::not_learned ? row.in_distribution.value_or(0) : row.mean;
    return std::tuple(row.status, row.tier.value_or(0), -shown);
  };
  std::ranges::stable_sort(rows, [&](const BoardRow& a, const BoardRow& b) { return place(a) < place(b); });
  for (BoardRow& row : rows) {
    row.unsettled = std::ranges::any_of(rows, [&](const BoardRow& other) {
      return row.tier && other.tier && *other.tier > *row.tier && other.mean - row.mean > kTierDifference;
    });
  }
}

BoardTaskSummary summarize(const BoardTask& task) {
  BoardTaskSummary summary{.encodings = task.rows.size()};
  for (const BoardRow& row : task.rows) {
    summary.learned += row.learned.by_half_the_seeds();
    if (row.status == Verdict::not_learned) continue;
    if (!summary.best || row.mean > summary.best->mean) {
      summary.best = row;
      summary.ties = 0;
    } else if (row.mean == summary.best->mean) {
      ++summary.ties;
    }
    if (row.mean >= kKept) summary.keep.push_back(row.encoding);
  }
  for (const BoardRow& row : task.other_models) {
    if (row.learned.by_half_the_seeds()) summary.other_models.push_back(row.encoding);
  }
  return summary;
}

}  // namespace

BoardReport merge_board(std::span<const NamedReport> stored, std::span<const NamedReport> users,
                        const Costs& known, bool allow_different_budget, const BoardLookups& lookups) {
  BoardReport all{.costs = known, .find_mark = lookups.mark_of};
  std::vector<NamedReport> earlier;
  std::deque<Report> renamed;
  std::set<ExperimentId> seen;
  const auto add = [&](const NamedReport& run, bool is_users, Report& to) {
    check(earlier, run, is_users && allow_different_budget);
    for (const std::string& about : {run.report.so_far, trained_elsewhere(run.report)})
      if (!about.empty()) all.warnings.push_back(fmt::format("{}: {}", run.name, about));
    if (is_users) {
      add_users(run, known, seen, all, to);
    } else {
      add_stored(run, seen, to);
    }
    earlier.push_back(run);
  };
  for (const bool is_users : {false, true}) {
    for (const NamedReport& run : is_users ? users : stored) {
      const auto model = lookups.other_model_of ? lookups.other_model_of(run.report) : std::nullopt;
      if (model) {
        add({run.name, renamed.emplace_back(named_by_model(run.report, *model))}, is_users, all.other_models);
      } else {
        add(run, is_users, all.report);
      }
    }
  }
  for (const NamedReport& run : stored) {
    for (const TaskBaseline& task : run.report.tasks) all.stored_tasks.insert(task.task);
  }
  for (const TaskBaseline& task : all.other_models.tasks) {
    if (find_task(all.report, task.task)) continue;
    all.warnings.push_back(fmt::format(
        "no encoding of the board ran {}, so the board does not show the other models on it", task.task));
  }
  return all;
}

Board make_board(const BoardReport& all, const BoardOptions& options) {
  const GroupedReport encodings(all.report), other_models(all.other_models);
  Board board{.options = options};
  for (const TaskBaseline& task : all.report.tasks) {
    BoardTask shown{.task = task.task,
                    .is_users = !all.stored_tasks.contains(task.task),
                    .split = options.split,
                    .splits = select_splits(task, options.split)};
    if (shown.splits.empty()) continue;
    shown.rows = make_rows(all, encodings, task, shown.splits, options.metric);
    if (shown.rows.empty()) continue;
    if (all.find_mark) shown.mark = all.find_mark(task.task);
    shown.steps = longest_training(all.report.experiments, task.task);
    find_statuses(shown.rows);
    shown.other_models = make_rows(all, other_models, task, shown.splits, options.metric);
    for (BoardRow& row : shown.other_models) row.is_other_model = true;
    shown.summary = summarize(shown);
    board.tasks.push_back(std::move(shown));
  }
  return board;
}

std::vector<BoardRow> all_rows(const BoardTask& task) {
  std::vector<BoardRow> rows = task.rows;
  rows.insert(rows.end(), task.other_models.begin(), task.other_models.end());
  return rows;
}

std::vector<std::string> marked_tasks(const Board& board) {
  std::vector<std::string> names;
  for (const BoardTask& task : board.tasks) {
    if (!task.mark.empty()) names.push_back(task.task);
  }
  return names;
}

}  // namespace posbench
