#include "results/presentation/report_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "results/presentation/page.h"
#include "results/presentation/length_bins.h"
#include "results/statistics/summary.h"

namespace posbench {
namespace {

using Experiments = std::vector<const ExperimentResult*>;
using Kind = std::optional<SplitSummary> SummaryRow::*;

/// What all plots of a page are drawn from.
struct Source {
  const Report& report;
  const Summary& summary;
  std::vector<std::string> encodings;  // by their mean rank
  std::vector<std::string> tasks;      // as the report lists them; those with experiments
  std::map<std::string, std::map<std::string, Experiments>> experiments;  // by task and encoding
};

/// Best first, as in ranking_table.
std::vector<std::string> by_rank(const Summary& summary) {
  const auto place = [](const Ranking& r) {
    const std::optional<MeanRank>& rank = r.out_of_distribution ? r.out_of_distribution : r.in_distribution;
    return rank ? rank->mean : 1e9;
  };
  std::vector<Ranking> ranking = summary.ranking;
  std::stable_sort(ranking.begin(), ranking.end(),
                   [&](const Ranking& a, const Ranking& b) { return place(a) < place(b); });
  std::vector<std::string> names;
  for (const Ranking& row : ranking) names.push_back(row.encoding);
  return names;
}

Source make_source(const Report& report, const Summary& summary) {
  Source source{report, summary, by_rank(summary), {}, {}};
  for (const ExperimentResult& experiment : report.experiments) {
    source.experiments[experiment.id.task][experiment.id.encoding].push_back(&experiment);
  }
  for (const TaskBaseline& task : report.tasks) {
    if (source.experiments.count(task.task) > 0) source.tasks.push_back(task.task);
  }
  return source;
}

Json low(const std::optional<Interval>& interval) { return interval ? page_number(interval->low) : Json(nullptr); }
Json high(const std::optional<Interval>& interval) {
  return interval ? page_number(interval->high) : Json(nullptr);
}

Json number_or_null(const std::optional<double>& value) { return value ? page_number(*value) : Json(nullptr); }

/// "d" where seeds diverged, "f" where some failed.
std::string mark(const SummaryRow& row) {
  return std::string(row.diverged > 0 ? "d" : "") + (row.failed > 0 ? "f" : "");
}

Plot heat_map(const Source& source, const std::string& title, Kind kind, Spread SplitSummary::*accuracy,
              const std::string& about) {
  Plot plot{.kind = "heat",
            .title = title,
            .about = about,
            .columns = {{"row", "encoding"},
                        {"column", "task"},
                        {"value", "accuracy"},
                        {"low", "low"},
                        {"high", "high"},
                        {"solved", "seeds that solve it"},
                        {"seeds", "seeds"},
                        {"mark", "unfinished"}}};
  std::map<std::pair<std::string, std::string>, const SummaryRow*> rows;
  for (const SummaryRow& row : source.summary.rows) rows[{row.encoding, row.task}] = &row;
  for (const std::string& encoding : source.encodings) {
    for (const std::string& task : source.tasks) {
      const auto found = rows.find({encoding, task});
      if (found == rows.end() || !(found->second->*kind)) continue;
      const SplitSummary& split = *(found->second->*kind);
      const Spread& spread = split.*accuracy;
      plot.rows.push_back({encoding, task, page_number(spread.mean), low(spread.interval), high(spread.interval),
                           page_number(split.solved), found->second->seeds.size(), mark(*found->second)});
    }
  }
  return plot;
}

Section heat_maps(const Source& source) {
  const std::string raw = "The share of sequences with every answer right, mean over seeds and splits.";
  const std::string above =
      "Token accuracy, rescaled so that 0 is the best predictor that does not read the question, and 1 is "
      "all right.";
  constexpr Kind kIn = &SummaryRow::in_distribution, kOut = &SummaryRow::out_of_distribution;
  return {
      "Encodings and tasks",
      "Each cell is rounded down, so that 1.00 means that nothing was wrong. Encodings stand in the order of "
      "their mean rank "
      "out of distribution. After a value, d means that one or more seeds diverged, f that they failed; they "
      "count as 0. "
      "Tables give 95 % intervals over seeds.",
      {heat_map(source, "In distribution", kIn, &SplitSummary::sequence, raw),
       heat_map(source, "Out of distribution", kOut, &SplitSummary::sequence, raw),
       heat_map(source, "In distribution, above the trivial baseline", kIn, &SplitSummary::above_trivial, above),
       heat_map(source, "Out of distribution, above the trivial baseline", kOut, &SplitSummary::above_trivial,
                above)}};
}

Section ranking(const Source& source) {
  Plot plot{.kind = "dots",
            .title = "Mean rank",
            .about =
                "By sequence accuracy among the encodings of the same task; 1 is best, equals share the mean of "
                "their ranks.",
            .columns = {{"row", "encoding"},
                        {"series", "splits"},
                        {"value", "mean rank"},
                        {"low", "low"},
                        {"high", "high"},
                        {"tasks", "tasks"}}};
  plot.signals = {{"x_title", "mean rank over tasks"}, {"zero", false}};
  std::map<std::string, const Ranking*> rows;
  for (const Ranking& row : source.summary.ranking) rows[row.encoding] = &row;
  const auto add = [&](const std::string& encoding, const char* series, const std::optional<MeanRank>& rank) {
    if (!rank) return;
    plot.rows.push_back({encoding, series, page_number(rank->mean), page_number(rank->interval.low),
                         page_number(rank->interval.high), rank->tasks});
  };
  for (const std::string& encoding : source.encodings) {
    add(encoding, "out of distribution", rows.at(encoding)->out_of_distribution);
    add(encoding, "in distribution", rows.at(encoding)->in_distribution);
  }
  return {"Ranking", "Lines are 95 % intervals, by bootstrap over tasks and, within each, over seeds.", {plot}};
}

/// "24 (20 to 30)"; where it does not fall, "beyond 256".
void write_threshold_length(const std::string& encoding, const std::string& task, const char* of,
                const std::optional<ThresholdLength>& fall, Json& rows) {
  if (!fall) return;
  const auto number = [&](const std::optional<int>& at) {
    return at ? Json(*at) : Json(fmt::format("beyond {}", fall->tested_to));
  };
  rows.push_back({encoding, task, of, number(fall->at), fall->has_interval ? number(fall->low) : Json(nullptr),
                  fall->has_interval ? number(fall->high) : Json(nullptr), fall->tested_to});
}

Section falls(const Source& source) {
  Plot plot{.kind = "table",
            .title = "Where accuracy first falls below 90 %",
            .about =
                "The first length, or distance, from which the token accuracy of all seeds is below 0.9, with its "
                "95 % interval by "
                "bootstrap over seeds.",
            .columns = {{"encoding", "encoding"},
                        {"task", "task"},
                        {"of", "over"},
                        {"at", "falls at"},
                        {"low", "low"},
                        {"high", "high"},
                        {"tested_to", "tested to"}}};
  for (const SummaryRow& row : source.summary.rows) {
    write_threshold_length(row.encoding, row.task, "length", row.length, plot.rows);
    write_threshold_length(row.encoding, row.task, "distance", row.distance, plot.rows);
  }
  return {"How far encodings carry", "", {plot}};
}

/// One plot of curves: its rows by encoding, best first.
template <class AddRows>
Plot curves(const Source& source, const std::string& task, Plot plot, AddRows add_rows) {
  plot.kind = "curve";
  plot.title = task;
  plot.signals["names"] = source.encodings;
  const auto& of_task = source.experiments.at(task);
  for (const std::string& encoding : source.encodings) {
    if (const auto found = of_task.find(encoding); found != of_task.end())
      add_rows(encoding, found->second, plot.rows);
  }
  return plot;
}

Section accuracy_by(const Source& source, Axis axis) {
  const std::string unit = axis == Axis::length     ? "length"
                           : axis == Axis::distance ? "distance"
                                                    : "position in the answer";
  Section section{"Accuracy against " + unit,
                  "Token accuracy; lines are means over seeds, bars their 95 % intervals (of one seed, Wilson's). "
                  "The grey range is what "
                  "was trained, the dotted line 0.9. Neighbouring places with few cases are taken together.",
                  {}};
  for (const std::string& task : source.tasks) {
    Experiments all;
    for (const auto& [encoding, experiments] : source.experiments.at(task)) {
      all.insert(all.end(), experiments.begin(), experiments.end());
    }
    const std::vector<LengthBin> places = length_bins(all, axis);
    if (places.size() < 2) continue;
    int trained_to = -1, trained_from = -1;
    for (const LengthBin& place : places) {
      if (place.trained && trained_from < 0) trained_from = place.from;
      if (place.trained) trained_to = place.to;
    }
    std::string about = fmt::format("Tested to {} {}", unit, places.back().to);
    if (trained_to > trained_from) about += fmt::format(", trained from {} to {}", trained_from, trained_to);
    if (trained_to == trained_from && trained_to >= 0) about += fmt::format(", trained at {}", trained_to);
    Plot plot{.about = about,
              .columns = {{"name", "encoding"},
                          {"x", "middle"},
                          {"y", "accuracy"},
                          {"low", "low"},
                          {"high", "high"},
                          {"from", "from"},
                          {"to", "to"},
                          {"seeds", "seeds"},
                          {"cases", "cases"},
                          {"loss", "loss"},
                          {"margin", "margin"}}};
    plot.signals = {{"x_title", unit}, {"y_title", "token accuracy"}, {"level", {kThreshold}}};
    if (trained_to >= 0) plot.signals["trained"] = {trained_from, trained_to};
    section.plots.push_back(curves(
        source, task, std::move(plot),
        [&](const std::string& encoding, const Experiments& experiments, Json& rows) {
          const auto values = accuracies(places, experiments, axis);
          for (size_t i = 0; i < places.size(); ++i) {
            if (!values[i]) continue;
            rows.push_back({encoding, 0.5 * (places[i].from + 0.0 + places[i].to), page_number(values[i]->mean),
                            page_number(values[i]->interval.low), page_number(values[i]->interval.high),
                            places[i].from, places[i].to, values[i]->seeds, values[i]->cases,
                            number_or_null(values[i]->loss), number_or_null(values[i]->margin)});
          }
        }));
  }
  return section;
}

void add_learning_rows(const std::string& encoding, const Experiments& experiments, Json& rows) {
  std::map<int, std::vector<const CurvePoint*>> by_step;
  for (const ExperimentResult* experiment : experiments) {
    for (const CurvePoint& point : experiment->learning_curve) by_step[point.step].push_back(&point);
  }
  for (const auto& [step, points] : by_step) {
    std::vector<double> sequence, token, loss;
    for (const CurvePoint* point : points) {
      sequence.push_back(point->validation_sequence);
      token.push_back(point->validation_token);
      if (point->loss) loss.push_back(*point->loss / static_cast<double>(points.size()));
    }
    const auto [low, high] = std::minmax_element(sequence.begin(), sequence.end());
    const bool many = points.size() > 1;
    double mean_loss = 0;
    for (const double part : loss) mean_loss += part;
    rows.push_back({encoding, step, page_number(mean(sequence)), many ? page_number(*low) : Json(nullptr),
                    many ? page_number(*high) : Json(nullptr), page_number(mean(token)),
                    loss.size() == points.size() ? page_number(mean_loss) : Json(nullptr), points.size()});
  }
}

Section learning_curves(const Source& source) {
  Section section{"Learning curves",
                  "Validation accuracy of whole sequences, in distribution: lines are means over seeds, bars "
                  "reach from the worst seed to "
                  "the best.",
                  {}};
  for (const std::string& task : source.tasks) {
    Plot plot{.about = "Validation accuracy of whole sequences by training step.",
              .columns = {{"name", "encoding"},
                          {"x", "step"},
                          {"y", "sequence accuracy"},
                          {"low", "lowest seed"},
                          {"high", "highest seed"},
                          {"token", "token accuracy"},
                          {"loss", "loss"},
                          {"seeds", "seeds"}}};
    plot.signals = {{"x_title", "training step"}, {"y_title", "sequence accuracy"}};
    plot = curves(source, task, std::move(plot), add_learning_rows);
    if (!plot.rows.empty()) section.plots.push_back(std::move(plot));
  }
  return section;
}

/// Seconds of each experiment. `timing` is passed through by whoever wrote the report: what is not as this program
/// writes it is not shown.
std::map<ExperimentId, double> read_seconds(const Json& timing) {
  std::map<ExperimentId, double> seconds;
  const auto list = timing.find("experiments");
  if (list == timing.end() || !list->is_array()) return seconds;
  for (const Json& time : *list) {
    const auto is = [&](const char* key, auto test) { return time.contains(key) && (time.at(key).*test)(); };
    if (!time.is_object() || !is("task", &Json::is_string) || !is("encoding", &Json::is_string) ||
        !is("seed", &Json::is_number_unsigned) || !is("seconds", &Json::is_number)) {
      continue;
    }
    const double value = time.at("seconds");
    if (value >= 0 && value < 1e12) seconds[{time.at("task"), time.at("encoding"), time.at("seed")}] = value;
  }
  return seconds;
}

Section cost(const Source& source) {
  Plot plot{.kind = "dots",
            .title = "Milliseconds for each training step",
            .about =
                "Of one thread; an experiment's time, its evaluation included, over its steps. Points are means "
                "over seeds.",
            .columns = {{"row", "encoding"},
                        {"series", "of"},
                        {"value", "milliseconds"},
                        {"low", "least task"},
                        {"high", "greatest task"},
                        {"experiments", "experiments"}}};
  plot.signals = {{"x_title", "milliseconds"}, {"zero", true}};
  const std::map<ExperimentId, double> seconds = read_seconds(source.report.timing);
  for (const std::string& encoding : source.encodings) {
    std::vector<double> of_tasks;
    int experiments = 0;
    for (const std::string& task : source.tasks) {
      const auto found = source.experiments.at(task).find(encoding);
      if (found == source.experiments.at(task).end()) continue;
      std::vector<double> steps;
      for (const ExperimentResult* experiment : found->second) {
        const auto time = seconds.find(experiment->id);
        if (time != seconds.end() && experiment->steps > 0)
          steps.push_back(1000 * time->second / experiment->steps);
      }
      experiments += static_cast<int>(steps.size());
      if (!steps.empty()) of_tasks.push_back(mean(steps));
    }
    if (of_tasks.empty()) continue;
    const auto [low, high] = std::minmax_element(of_tasks.begin(), of_tasks.end());
    plot.rows.push_back({encoding, "mean over tasks", page_number(mean(of_tasks)), page_number(*low),
                         page_number(*high), experiments});
  }
  return {"Cost",
          "Lines reach from the cheapest task to the dearest. Compare within one machine only; posbench bench "
          "measures more "
          "exactly.",
          {plot}};
}

Section unfinished(const Source& source) {
  Plot plot{.kind = "table",
            .title = "Experiments that did not finish",
            .columns = {{"task", "task"},
                        {"encoding", "encoding"},
                        {"seed", "seed"},
                        {"status", "status"},
                        {"reason", "reason"}}};
  for (const ExperimentResult& experiment : source.report.experiments) {
    if (experiment.status == Status::ok) continue;
    plot.rows.push_back({experiment.id.task, experiment.id.encoding, experiment.id.seed,
                         to_text(experiment.status), experiment.reason});
  }
  return {"Not finished", "They count as nothing right, above and everywhere.", {plot}};
}

/// Where and when a run was made, in a line.
std::string provenance(const NamedReport& run) {
  std::set<std::uint64_t> seeds;
  for (const ExperimentResult& experiment : run.report.experiments) seeds.insert(experiment.id.seed);
  std::string line = fmt::format("{}: {} experiments, {} {}", run.name, run.report.experiments.size(),
                                 seeds.size(), seeds.size() == 1 ? "seed" : "seeds");
  for (const char* key : {"started", "host", "cpu", "commit", "command"}) {
    const auto value = run.report.context.find(key);
    if (value == run.report.context.end() || !value->is_string()) continue;
    line += fmt::format("; {} {}", key, value->get<std::string>());
  }
  return line;
}

}  // namespace

std::string report_page(std::span<const NamedReport> runs) {
  const MergedReport all = merge_reports(runs);
  const Summary summary = summarize(all.report);
  const Source source = make_source(all.report, summary);
  Page page{.title = "Position encodings: accuracy in and out of distribution", .names = source.encodings};
  for (const NamedReport& run : runs) {
    page.notes.push_back(provenance(run));
    page.documents.push_back({fmt::format("Configuration: {}", run.name), run.report.config});
    page.documents.push_back({fmt::format("Context: {}", run.name), run.report.context});
  }
  for (const std::string& warning : all.warnings) page.notes.push_back("Note: " + warning);
  for (const Section& section :
       {heat_maps(source), ranking(source), unfinished(source), accuracy_by(source, Axis::length),
        accuracy_by(source, Axis::distance), accuracy_by(source, Axis::position), falls(source), learning_curves(source), cost(source)}) {
    Section kept{section.title, section.about, {}};
    for (const Plot& plot : section.plots) {
      if (!plot.rows.empty()) kept.plots.push_back(plot);
    }
    if (!kept.plots.empty()) page.sections.push_back(std::move(kept));
  }
  return html(page);
}

}  // namespace posbench
