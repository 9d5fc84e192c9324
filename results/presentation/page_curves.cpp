// Makes the sections of a page with curves: accuracy against length and distance, and learning curves.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/presentation/length_bins.h"
#include "results/presentation/page_sections.h"

namespace posbench {
namespace {

/// Fills a plot with the curves of each encoding, best first.
template <class AddRows>
void add_curves(const PageSource& source, const std::string& task, Plot& plot, AddRows add_rows) {
  plot.kind = "curve";
  plot.details["task"] = task;
  const auto& of_task = source.experiments.at(task);
  for (const std::string& encoding : source.encodings) {
    if (const auto found = of_task.find(encoding); found != of_task.end()) add_rows(encoding, found->second);
  }
}

/// Returns the experiments of all encodings on a task.
Experiments experiments_of(const PageSource& source, const std::string& task) {
  Experiments all;
  for (const auto& [encoding, experiments] : source.experiments.at(task))
    all.insert(all.end(), experiments.begin(), experiments.end());
  return all;
}

struct Predictor {
  std::string name;
  double accuracy = 0;
};

/// Returns the best predictor that does not read the question, chance among them.
Predictor best_trivial(const SplitBaseline& split) {
  Predictor best{"chance", split.chance};
  for (const auto& [name, accuracy] : split.trivial) {
    if (accuracy > best.accuracy) best = {name, accuracy};
  }
  return best;
}

/// Returns the baselines of each split of the bins: a line from the split's first bin to its last.
Json write_levels(const TaskBaseline& task, const std::vector<LengthBin>& bins) {
  Json levels = Json::array();
  for (size_t first = 0, next = 0; first < bins.size(); first = next) {
    while (next < bins.size() && bins[next].split == bins[first].split) ++next;
    const auto split = std::ranges::find(task.splits, bins[first].split, &SplitBaseline::name);
    if (split == task.splits.end()) continue;
    const Predictor best = best_trivial(*split);
    const auto add = [&](const std::string& what, double accuracy) {
      levels.push_back({{"what", what},
                        {"split", split->name},
                        {"from", bins[first].from},
                        {"to", bins[next - 1].to},
                        {"y", round_for_page(accuracy)}});
    };
    add("chance", split->chance);
    if (best.name != "chance") add(best.name, best.accuracy);
  }
  return levels;
}

std::string range_text(int from, int to) {
  return from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to);
}

/// Returns a caption: "Trained at 1 to 20, tested to 100. Baselines: chance 0.50; best trivial predictor
/// (last_token) 0.62."
std::string bins_text(const std::vector<LengthBin>& bins, const Json& levels, Plot& plot) {
  int trained_from = -1, trained_to = -1;
  for (const LengthBin& bin : bins) {
    if (bin.trained && trained_from < 0) trained_from = bin.from;
    if (bin.trained) trained_to = bin.to;
  }
  std::string text = fmt::format("Tested to {}", bins.back().to);
  if (trained_to >= 0) {
    plot.signals["trained"] = {trained_from, trained_to};
    text = fmt::format("Trained at {}, tested to {}", range_text(trained_from, trained_to), bins.back().to);
  }
  std::vector<std::string> known;  // baselines of the first split
  for (const Json& level : levels) {
    if (level["split"] != levels[0]["split"]) continue;
    const std::string name = level["what"];
    known.push_back(fmt::format("{} {:.2f}",
                                name == "chance" ? name : fmt::format("best trivial predictor ({})", name),
                                level["y"].get<double>()));
  }
  return known.empty() ? text + "." : fmt::format("{}. Baselines: {}.", text, fmt::join(known, "; "));
}

std::string unit(Axis axis) {
  return axis == Axis::length ? "length" : axis == Axis::distance ? "distance" : "position in the answer";
}

/// Returns the plot of some splits of a task; without rows if they have a single length, distance or position, or
/// no encoding has the metric.
Plot metric_plot(const PageSource& source, const std::string& task, Axis axis,
                 const std::vector<std::string>& splits, Metric metric) {
  Plot plot{.title = task,
            .columns = {{"name", "encoding"},
                        {"x", "middle"},
                        {"y", to_string(metric)},
                        {"from", "from"},
                        {"to", "to"},
                        {"cases", "cases"},
                        {"values", "of each seed"}}};
  const std::vector<LengthBin> bins = length_bins(experiments_of(source, task), axis, splits);
  if (bins.size() < 2) return plot;
  plot.signals = {{"x_title", unit(axis)}, {"y_title", metric_info(metric).title}};
  const Json levels =
      metric_info(metric).is_accuracy ? write_levels(find_baseline(source.report, task), bins) : Json::array();
  plot.about = bins_text(bins, levels, plot);
  if (!levels.empty()) plot.signals["levels"] = levels;
  plot.details["splits"] = splits;
  double greatest = 0;
  add_curves(source, task, plot, [&](const std::string& encoding, const Experiments& experiments) {
    const auto values = bin_values(bins, experiments, axis, splits, metric);
    for (size_t i = 0; i < bins.size(); ++i) {
      if (!values[i]) continue;
      greatest = std::max(greatest, std::ranges::max(values[i]->values));
      plot.add_row({encoding, 0.5 * (bins[i].from + 0.0 + bins[i].to), values[i]->mean, bins[i].from, bins[i].to,
                    values[i]->cases, values[i]->values});
    }
  });
  if (!metric_info(metric).is_accuracy) plot.signals["greatest"] = round_for_page(greatest);
  return plot;
}

/// Splits that differ from training in the same options apart from the length.
struct SplitGroup {
  std::string change;  // "p_ignore=0.98"; empty: only the length differs
  std::vector<std::string> splits;
};

/// Groups the splits of a task. An accuracy against the length does not mix those that also change other options.
/// A split whose options are not known, or that shifts positions, has a group of its own.
std::vector<SplitGroup> split_groups(const TaskBaseline& task) {
  std::vector<SplitGroup> groups;
  for (const SplitBaseline& split : task.splits) {
    std::vector<std::string> changes;
    for (const auto& [option, value] : split.options.value_or(std::map<std::string, std::string>())) {
      if (option != "length") changes.push_back(option + "=" + value);
    }
    const bool is_alone =
        split.kind == SplitKind::shifted || (!split.options && split.kind != SplitKind::in_distribution);
    const std::string change = is_alone ? split.name : fmt::format("{}", fmt::join(changes, ", "));
    auto group = std::ranges::find(groups, change, &SplitGroup::change);
    if (group == groups.end()) group = groups.insert(group, {change, {}});
    group->splits.push_back(split.name);
  }
  return groups;
}

Section by_length(const PageSource& source, const std::string& title, const std::string& about, Metric metric) {
  Section section{title, about, {}};
  for (const std::string& task : source.tasks) {
    for (const SplitGroup& group : split_groups(find_baseline(source.report, task))) {
      Plot plot = metric_plot(source, task, Axis::length, group.splits, metric);
      if (!group.change.empty()) plot.title += ", " + group.change;
      if (group.change.empty() || !plot.rows.empty()) section.plots.push_back(std::move(plot));
    }
  }
  return section;
}

/// Returns the plot of the grid of an option on a task; without rows if no experiment has it.
Plot multiple_plot(const PageSource& source, const std::string& task, const std::string& option) {
  Plot plot{.title = option == kFarGrid     ? task + ", far evidence"
                     : option == "distance" ? task + ", distance"
                                            : task,
            .columns = {{"name", "encoding"},
                        {"x", "multiple"},
                        {"y", "sequence accuracy"},
                        {"sequences", "sequences of all seeds"},
                        {"values", "of each seed"}}};
  plot.signals = {
      {"x_title", option == "distance" ? "multiple of the trained distance" : "multiple of the trained length"},
      {"y_title", "sequence accuracy"}};
  add_curves(source, task, plot, [&](const std::string& encoding, const Experiments& experiments) {
    for (const double multiple : kGridMultiples) {
      std::vector<double> values;
      std::int64_t sequences = 0;
      for (const ExperimentResult* experiment : experiments) {
        const GridResult* grid = find_grid(*experiment, option);
        for (const GridPoint& point : grid != nullptr ? grid->points : std::vector<GridPoint>{})
          sequences += point.multiple == multiple ? point.sequences : 0;
        if (const auto value = accuracy_at(*experiment, option, multiple)) values.push_back(*value);
      }
      if (sequences > 0) plot.add_row({encoding, multiple, mean(values), sequences, values});
    }
  });
  return plot;
}

/// The accuracies of a seed at a step of training.
struct CurveValue {
  double sequence = 0, token = 0;
  std::optional<double> loss;
};

/// Returns the validation in distribution or, if a split is named, on that split, whose loss is not measured.
std::optional<CurveValue> value_at(const CurvePoint& point, const std::string& split) {
  if (split.empty()) return CurveValue{point.validation_sequence, point.validation_token, point.loss};
  const auto found = std::ranges::find(point.splits, split, &SplitAccuracy::split);
  if (found == point.splits.end()) return std::nullopt;
  return CurveValue{found->sequence, found->token, std::nullopt};
}

void add_learning_rows(const std::string& encoding, const Experiments& experiments, const std::string& split,
                       Plot& plot) {
  std::map<int, std::vector<CurveValue>> by_step;
  for (const ExperimentResult* experiment : experiments) {
    for (const CurvePoint& point : experiment->learning_curve) {
      if (const auto value = value_at(point, split)) by_step[point.step].push_back(*value);
    }
  }
  for (const auto& [step, values] : by_step) {
    std::vector<double> sequence, token, loss;
    for (const CurveValue& value : values) {
      sequence.push_back(value.sequence);
      token.push_back(value.token);
      if (value.loss) loss.push_back(*value.loss);
    }
    plot.add_row({encoding, step, mean(sequence), mean(token),
                  loss.size() == values.size() ? Json(mean(loss)) : Json(nullptr), sequence});
  }
}

/// Returns the splits that were validated during training, in the order of the curves.
std::vector<std::string> validated_splits(const PageSource& source, const std::string& task) {
  std::vector<std::string> names;
  for (const ExperimentResult* experiment : experiments_of(source, task)) {
    if (experiment->learning_curve.empty()) continue;
    for (const SplitAccuracy& split : experiment->learning_curve.front().splits) {
      if (std::ranges::find(names, split.split) == names.end()) names.push_back(split.split);
    }
  }
  return names;
}

/// Returns the learning curves on a task, in distribution or on a named split.
Plot learning_plot(const PageSource& source, const std::string& task, const std::string& split) {
  Plot plot{.title = split.empty() ? task : fmt::format("{}, {}", task, split),
            .columns = {{"name", "encoding"},
                        {"x", "step"},
                        {"y", "sequence accuracy"},
                        {"token", "token accuracy"},
                        {"loss", "loss"},
                        {"values", "of each seed"}}};
  plot.signals = {{"x_title", "training step"}, {"y_title", "sequence accuracy"}};
  add_curves(source, task, plot, [&](const std::string& encoding, const Experiments& experiments) {
    add_learning_rows(encoding, experiments, split, plot);
  });
  return plot;
}

}  // namespace

Section multiple_section(const PageSource& source) {
  Section section{
      "Accuracy against the multiple of the trained length",
      fmt::format(
          "The fraction of sequences with every scored answer right: lines are means over seeds, small dots are "
          "seeds. A seed whose test ended after two multiples below {:.2f} has 0 beyond them.",
          kGridFloor),
      {}};
  for (const std::string& task : source.tasks) {
    for (const char* option : {kFarGrid, "length", "distance"})
      section.plots.push_back(multiple_plot(source, task, option));
  }
  return section;
}

Section length_section(const PageSource& source) {
  return by_length(
      source, "Accuracy against length",
      "Token accuracy: lines are means over seeds, small dots are seeds. The gray range was trained. Dotted "
      "lines are chance; dashed lines are the best predictor that does not read the question. Neighboring "
      "lengths with few cases are pooled. Splits that change other options than the length have plots of their own.",
      Metric::token);
}

Section distance_section(const PageSource& source) {
  Section section{
      "Accuracy against distance",
      "As above, over the distance between the question and its source. Each plot has sequences of the "
      "same lengths, because an encoding may fail on longer ones due to their length.",
      {}};
  for (const std::string& task : source.tasks) {
    for (const LengthGroup& group : length_groups(experiments_of(source, task))) {
      Plot plot = metric_plot(source, task, Axis::distance, group.splits, Metric::token);
      if (plot.rows.empty()) continue;
      plot.title += group.to == 0 ? fmt::format(", {}", group.splits.front())
                                  : fmt::format(", {} {}", group.from == group.to ? "length" : "lengths",
                                                range_text(group.from, group.to));
      plot.about += fmt::format(" Splits: {}.", fmt::join(group.splits, ", "));
      section.plots.push_back(std::move(plot));
    }
  }
  return section;
}

Section loss_section(const PageSource& source) {
  return by_length(source, "Loss against length",
                   "Mean cross-entropy of scored positions in nats; less is better.", Metric::loss);
}

Section position_section(const PageSource& source) {
  Section section{"Accuracy against position in the answer",
                  "Token accuracy at each scored position of a sequence, counted from 1.",
                  {}};
  for (const std::string& task : source.tasks) {
    std::vector<std::string> splits;
    for (const SplitBaseline& split : find_baseline(source.report, task).splits) splits.push_back(split.name);
    section.plots.push_back(metric_plot(source, task, Axis::position, splits, Metric::token));
  }
  return section;
}

Section learning_section(const PageSource& source) {
  Section section{
      "Learning curves",
      "Validation accuracy of whole sequences, in distribution unless a split is named, by training step: lines are "
      "means over seeds, small dots are seeds.",
      {}};
  for (const std::string& task : source.tasks) {
    section.plots.push_back(learning_plot(source, task, ""));
    for (const std::string& split : validated_splits(source, task))
      section.plots.push_back(learning_plot(source, task, split));
  }
  return section;
}

}  // namespace posbench
