// Draws the phase diagrams of a page: the accuracies at the points of a sweep's grid.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/page_sections.h"

namespace posbench {
namespace {

constexpr const char* kTrainedLength = "task.length";

/// The experiments of a task and an encoding at all points of the grid.
struct Grid {
  std::string task, encoding;  // without what was swept
  Experiments experiments;
};

/// An option or a setting that was swept, with two values or more.
struct SweptAxis {
  std::string name;
  std::vector<std::string> values;  // numbers ascend; other values are in the order of the sweep
};

/// Sorts values if all are numbers.
void sort_numbers(std::vector<std::string>& values) {
  std::vector<std::pair<double, std::string>> numbers;
  for (const std::string& value : values) {
    double number = 0;
    if (!parse_number(value, number)) return;
    numbers.emplace_back(number, value);
  }
  std::ranges::stable_sort(numbers, {}, &std::pair<double, std::string>::first);
  std::ranges::transform(numbers, values.begin(), &std::pair<double, std::string>::second);
}

std::vector<Grid> grids(const PageSource& source) {
  std::vector<Grid> grids;
  for (const ExperimentResult& experiment : source.report.experiments) {
    if (!experiment.swept) continue;
    const auto same = [&](const Grid& grid) {
      return grid.task == experiment.swept->task && grid.encoding == experiment.swept->encoding;
    };
    auto found = std::ranges::find_if(grids, same);
    if (found == grids.end())
      found = grids.insert(grids.end(), {experiment.swept->task, experiment.swept->encoding, {}});
    found->experiments.push_back(&experiment);
  }
  return grids;
}

std::string value_at(const ExperimentResult& experiment, const std::string& axis) {
  for (const auto& [name, value] : experiment.swept->values) {
    if (name == axis) return value;
  }
  return "";
}

std::vector<SweptAxis> swept_axes(const Grid& grid) {
  std::vector<SweptAxis> axes;
  for (const auto& [name, value] : grid.experiments.front()->swept->values) {
    SweptAxis axis{name, {}};
    for (const ExperimentResult* experiment : grid.experiments) {
      const std::string at = value_at(*experiment, name);
      if (std::ranges::find(axis.values, at) == axis.values.end()) axis.values.push_back(at);
    }
    sort_numbers(axis.values);
    if (axis.values.size() > 1) axes.push_back(std::move(axis));
  }
  return axes;
}

/// The part of a grid that one diagram shows. The axes that it does not show have one value each.
struct Slice {
  std::string at;  // "model.width=32"; empty if it is the whole grid
  Experiments experiments;
};

std::vector<Slice> slices(const Grid& grid, const std::vector<SweptAxis>& axes,
                          const std::vector<std::string>& shown) {
  std::vector<Slice> slices;
  for (const ExperimentResult* experiment : grid.experiments) {
    std::vector<std::string> fixed;
    for (const SweptAxis& axis : axes) {
      if (std::ranges::find(shown, axis.name) == shown.end())
        fixed.push_back(axis.name + "=" + value_at(*experiment, axis.name));
    }
    const std::string at = fmt::format("{}", fmt::join(fixed, ", "));
    auto found = std::ranges::find(slices, at, &Slice::at);
    if (found == slices.end()) found = slices.insert(slices.end(), {at, {}});
    found->experiments.push_back(experiment);
  }
  return slices;
}

std::string axis_title(const std::string& name) { return name == kTrainedLength ? "trained length" : name; }

Plot diagram(const std::string& title, const std::string& about, const std::string& rows,
             const std::string& columns, const Grid& grid) {
  Plot plot{.kind = "heat",
            .title = title,
            .about = about,
            .columns = {{"row", rows},
                        {"column", columns},
                        {"value", "accuracy"},
                        {"least", "worst seed"},
                        {"greatest", "best seed"},
                        {"seeds", "seeds"},
                        {"mark", "unfinished"},
                        {"text", "rounded"},
                        {"note", "note"}}};
  plot.signals = {{"x_title", columns}, {"y_title", rows}};
  plot.details["phase"] = true;
  plot.details["task"] = grid.task;
  plot.details["encodings"] = {grid.experiments.front()->id.encoding};
  return plot;
}

/// Fixes the order of the rows and columns that have cells. The first cells alone do not, because cells may be
/// missing.
void set_order(Plot& plot, const std::vector<std::string>& rows, const std::vector<std::string>& columns) {
  const auto with_cells = [&](const std::vector<std::string>& names, size_t place) {
    Json order = Json::array();
    for (const std::string& name : names) {
      if (std::ranges::any_of(plot.rows, [&](const Json& row) { return row[place] == name; }))
        order.push_back(name);
    }
    return order;
  };
  plot.signals["y_order"] = with_cells(rows, 0);
  plot.signals["x_order"] = with_cells(columns, 1);
}

/// Adds a cell with the accuracies of all seeds at a point of the grid.
void add_cell(const std::string& row, const std::string& column, const std::vector<double>& values,
              const Experiments& experiments, Plot& plot) {
  if (values.empty()) return;
  const auto any = [&](Status status) {
    return std::ranges::find(experiments, status, &ExperimentResult::status) != experiments.end();
  };
  const std::string mark = unfinished_letters(any(Status::diverged), any(Status::failed));
  const auto [least, greatest] = std::ranges::minmax_element(values);
  plot.add_row(
      {row, column, mean(values), *least, *greatest, values.size(), mark, accuracy_text(mean(values)), ""});
}

Experiments with(const Experiments& experiments, const std::string& axis, const std::string& value) {
  Experiments chosen;
  for (const ExperimentResult* experiment : experiments) {
    if (value_at(*experiment, axis) == value) chosen.push_back(experiment);
  }
  return chosen;
}

/// A column of tested lengths.
struct Lengths {
  int from = 0, to = 0;  // both included
  std::string text() const { return from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to); }
};

/// Returns every length that any experiment on the task was tested at; ranges that double where those are many.
std::vector<Lengths> tested_lengths(const std::vector<Grid>& grids, const std::string& task) {
  constexpr size_t kMaxColumns = 16;
  std::set<int> lengths;
  for (const Grid& grid : grids) {
    if (grid.task != task) continue;
    for (const ExperimentResult* experiment : grid.experiments) {
      for (const SplitResult& split : experiment->splits) {
        for (const LengthResult& result : split.by_length) lengths.insert(result.length);
      }
    }
  }
  std::vector<Lengths> columns;
  if (lengths.size() <= kMaxColumns) {
    for (const int length : lengths) columns.push_back({length, length});
    return columns;
  }
  for (long from = 0, to = 1; from <= *lengths.rbegin(); from = to + 1, to *= 2) {
    const auto first = lengths.lower_bound(static_cast<int>(from));
    const int last = static_cast<int>(std::min<long>(to, *lengths.rbegin()));
    if (first != lengths.end() && *first <= last) columns.push_back({static_cast<int>(from), last});
  }
  return columns;
}

/// Returns the token accuracy at some lengths, each in the first split that tests it; empty if none does.
std::optional<double> accuracy_at(const ExperimentResult& experiment, const Lengths& lengths) {
  std::map<int, Count> counts;
  for (const SplitResult& split : experiment.splits) {
    for (const LengthResult& result : split.by_length) {
      if (result.length >= lengths.from && result.length <= lengths.to)
        counts.emplace(result.length, result.token);
    }
  }
  Count all;
  for (const auto& [length, count] : counts) all += count;
  return all.total > 0 ? std::optional(accuracy(all)) : std::nullopt;
}

/// Makes diagrams of one axis by tested length, one for each point of the other axes.
void add_by_tested_length(const Grid& grid, const std::vector<SweptAxis>& axes,
                          const std::vector<Lengths>& columns, std::vector<Plot>& plots) {
  if (columns.size() < 2) return;
  const auto trained = std::ranges::find(axes, kTrainedLength, &SweptAxis::name);
  const SweptAxis& axis = trained == axes.end() ? axes.front() : *trained;
  for (const Slice& slice : slices(grid, axes, {axis.name})) {
    Plot plot =
        diagram(fmt::format("{}, {}{}{}", grid.task, grid.encoding, slice.at.empty() ? "" : ", ", slice.at),
                fmt::format("Token accuracy: {} by tested length.", axis_title(axis.name)), axis_title(axis.name),
                "tested length", grid);
    for (const std::string& value : axis.values) {
      const Experiments experiments = with(slice.experiments, axis.name, value);
      for (const Lengths& lengths : columns) {
        std::vector<double> values;
        size_t unfinished = 0;
        for (const ExperimentResult* experiment : experiments) {
          if (const auto reached = accuracy_at(*experiment, lengths)) values.push_back(*reached);
          unfinished += experiment->status != Status::ok;
        }
        if (!values.empty()) values.insert(values.end(), unfinished, 0.0);
        add_cell(value, lengths.text(), values, experiments, plot);
      }
    }
    std::vector<std::string> names;
    for (const Lengths& lengths : columns) names.push_back(lengths.text());
    set_order(plot, axis.values, names);
    plots.push_back(std::move(plot));
  }
}

/// Returns the sequence accuracies of a kind of split, means over splits: one for each seed.
std::vector<double> sequence_accuracies(const PageSource& source, const Experiments& experiments,
                                        std::optional<SplitSummary> SummaryRow::*kind) {
  if (experiments.empty()) return {};
  const ExperimentId& id = experiments.front()->id;
  const SummaryRow* row = find_row(source.summary, id.task, id.encoding);
  return row && row->*kind ? (row->*kind)->sequence.values : std::vector<double>{};
}

using NamedKind = std::pair<const char*, std::optional<SplitSummary> SummaryRow::*>;
constexpr NamedKind kKinds[] = {{"in distribution", &SummaryRow::in_distribution},
                                {"out of distribution", &SummaryRow::out_of_distribution}};

/// Makes diagrams of two axes, one for each point of the others.
void add_by_axis(const PageSource& source, const Grid& grid, const std::vector<SweptAxis>& axes,
                 std::vector<Plot>& plots) {
  const SweptAxis &rows = axes[0], &columns = axes[1];
  for (const Slice& slice : slices(grid, axes, {rows.name, columns.name})) {
    for (const auto& [name, kind] : kKinds) {
      Plot plot = diagram(
          fmt::format("{}, {}, {}{}{}", grid.task, grid.encoding, name, slice.at.empty() ? "" : ", ", slice.at),
          fmt::format("Sequence accuracy: {} by {}.", axis_title(rows.name), axis_title(columns.name)),
          axis_title(rows.name), axis_title(columns.name), grid);
      for (const std::string& row : rows.values) {
        for (const std::string& column : columns.values) {
          const Experiments at = with(with(slice.experiments, rows.name, row), columns.name, column);
          add_cell(row, column, sequence_accuracies(source, at, kind), at, plot);
        }
      }
      set_order(plot, rows.values, columns.values);
      plots.push_back(std::move(plot));
    }
  }
}

}  // namespace

Section phase_section(const PageSource& source) {
  Section section{
      "Phase diagrams",
      "Means over seeds at each point of the sweep. The bar at the foot of a cell extends from its worst "
      "seed to its best. After a value, d means that one or more seeds diverged, f that they failed; they count "
      "as 0.",
      {}};
  const std::vector<Grid> all = grids(source);
  for (const Grid& grid : all) {
    const std::vector<SweptAxis> axes = swept_axes(grid);
    if (axes.empty()) continue;
    add_by_tested_length(grid, axes, tested_lengths(all, grid.task), section.plots);
    if (axes.size() > 1) add_by_axis(source, grid, axes, section.plots);
  }
  return section;
}

}  // namespace posbench
