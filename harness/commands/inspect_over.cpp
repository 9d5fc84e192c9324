#include "harness/commands/inspect_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "harness/runs/answer_source.h"
#include "results/presentation/page.h"
#include "results/presentation/table.h"

namespace posbench {
namespace {

constexpr double kRight = 0.9;  // of answers; below it, the model fails
constexpr const char *kAttention = "attention", *kPositional = "positional part";

std::string name(const HeadOverview& head) { return fmt::format("layer {}, head {}", head.layer, head.head); }

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.3f}", value) : "-"; }
std::string number(const Mean& mean) { return mean.count > 0 ? number(mean.value()) : "-"; }
std::string number(const std::optional<double>& value) { return value ? number(*value) : "-"; }
Json json_number(const Mean& mean) { return mean.count > 0 ? page_number(mean.value()) : Json(nullptr); }
Json json_number(const std::optional<double>& value) { return value ? page_number(*value) : Json(nullptr); }

/// The head that attends to the source most. Null if the task names no sources.
const HeadOverview* most_on_source(const Overview& seen) {
  if (!seen.has_sources()) return nullptr;
  return &*std::max_element(seen.heads.begin(), seen.heads.end(),
                            [](const HeadOverview& a, const HeadOverview& b) {
                              return a.statistics.on_source.value() < b.statistics.on_source.value();
                            });
}

std::vector<std::string> notes(const Overview& seen) {
  std::vector<std::string> notes{fmt::format("{} on {}, seed {}: {} samples of {}, {} of {} answers right",
                                             seen.id.encoding, seen.id.task, seen.id.seed, seen.samples,
                                             seen.split, seen.answers.correct, seen.answers.total)};
  if (!seen.run.empty()) notes.push_back(seen.run);
  notes.push_back(
      "Means over the queries whose answers are scored. Distances are in tokens from the key to the query; score = q k / "
      "sqrt(D) + positional part.");
  const HeadOverview* best = most_on_source(seen);
  if (best == nullptr) {
    notes.push_back("The task does not name the token that holds an answer, so nothing is told of the right key.");
    return notes;
  }
  const HeadStatistics& head = best->statistics;
  std::string reach = "which predicts no distance at which it fails";
  if (const auto predicted = head.predicted_reach(seen.farthest()))
    reach = fmt::format("whose ratio predicts that nearer keys win from {:.1f} tokens on", *predicted);
  const std::optional<Index> falls = seen.falls_at();
  notes.push_back(fmt::format(
      "{} attends most to the right key ({}). Its margin of content is {}, that of position {} for each token, {}. "
      "Measured: {}.",
      name(*best), number(head.on_source), number(head.content_margin),
      number(head.position_margin(seen.farthest())), reach,
      falls ? fmt::format("fewer than {} of the answers are right from {} tokens on", kRight, *falls)
            : fmt::format("{} or more of the answers are right up to {} tokens", kRight, seen.farthest())));
  return notes;
}

Table head_table(const Overview& seen) {
  Table table{.columns = {{"head"}, {"entropy", Align::right}}};
  if (seen.has_sources()) {
    for (const char* column : {"right key", "nearer", "farther", "content margin", "position margin", "ratio"})
      table.columns.push_back({column, Align::right});
  }
  for (const HeadOverview& head : seen.heads) {
    const HeadStatistics& s = head.statistics;
    table.rows.push_back({name(head), number(s.entropy)});
    if (!seen.has_sources()) continue;
    for (const std::string& cell :
         {number(s.on_source), number(s.nearer), number(s.farther), number(s.content_margin),
          number(s.position_margin(seen.farthest())), number(s.predicted_reach(seen.farthest()))})
      table.rows.back().push_back(cell);
  }
  return table;
}

Table part_table(const Overview& seen) {
  Table table{.columns = {{"head"},
                          {"part"},
                          {"right key", Align::right},
                          {"other keys", Align::right},
                          {"difference", Align::right}}};
  for (const HeadOverview& head : seen.heads) {
    for (const auto& [part, at] : head.statistics.parts) {
      table.rows.push_back(
          {name(head), part, number(at.source), number(at.others), number(at.source.value() - at.others.value())});
    }
  }
  return table;
}

Mean mean_of(const std::vector<double>& values) {
  Mean mean;
  for (const double value : values) mean.add(value);
  return mean;
}

double deviation(const std::vector<double>& values) {
  const double mean = mean_of(values).value();
  Mean squares;
  for (const double value : values) squares.add((value - mean) * (value - mean));
  return std::sqrt(squares.value());
}

/// A row for each head and distance.
Table distance_table(const Overview& seen) {
  Table table{.columns = {{"layer"}, {"head"}, {"distance"}, {"pairs"}, {kAttention}, {kPositional}}};
  for (const HeadOverview& head : seen.heads) {
    for (const auto& [distance, at] : head.statistics.by_distance) {
      table.rows.push_back({fmt::format("{}", head.layer), fmt::format("{}", head.head),
                            fmt::format("{}", distance), fmt::format("{}", at.attention.count),
                            fmt::format("{:.6g}", at.attention.value()),
                            fmt::format("{:.6g}", at.positional.value())});
    }
  }
  return table;
}

Json to_json(const Overview& seen, const HeadOverview& head) {
  const HeadStatistics& s = head.statistics;
  Json json{{"layer", head.layer}, {"head", head.head}, {"entropy", json_number(s.entropy)}};
  json["by_distance"] = Json::array();
  for (const auto& [distance, at] : s.by_distance) {
    json["by_distance"].push_back({{"distance", distance},
                                   {"pairs", at.attention.count},
                                   {"attention", json_number(at.attention)},
                                   {"positional", json_number(at.positional)}});
  }
  if (!seen.has_sources()) return json;
  json["right_key"] = {{"attention", json_number(s.on_source)},
                       {"nearer", json_number(s.nearer)},
                       {"farther", json_number(s.farther)}};
  json["by_offset"] = Json::array();
  for (const auto& [offset, attention] : s.by_offset)
    json["by_offset"].push_back({{"offset", offset}, {"attention", json_number(attention)}});
  json["content_margin"] = json_number(s.content_margin);
  json["position_margin"] = json_number(s.position_margin(seen.farthest()));
  json["predicted_reach"] = json_number(s.predicted_reach(seen.farthest()));
  json["parts"] = Json::array();
  for (const auto& [part, at] : s.parts)
    json["parts"].push_back(
        {{"name", part}, {"right_key", json_number(at.source)}, {"other_keys", json_number(at.others)}});
  for (const auto& [distance, values] : s.counts) {
    json["counts"].push_back({{"distance", distance},
                              {"cases", values.size()},
                              {"mean", json_number(mean_of(values))},
                              {"deviation", page_number(deviation(values))}});
  }
  return json;
}

Json to_json(const Overview& seen) {
  Json json{{"task", seen.id.task},       {"encoding", seen.id.encoding}, {"seed", seen.id.seed},
            {"split", seen.split},        {"samples", seen.samples},      {"correct", seen.answers.correct},
            {"total", seen.answers.total}};
  json["heads"] = Json::array();
  for (const HeadOverview& head : seen.heads) json["heads"].push_back(to_json(seen, head));
  if (!seen.has_sources()) return json;
  json["by_reach"] = Json::array();
  for (const auto& [distance, count] : seen.by_reach)
    json["by_reach"].push_back({{"distance", distance}, {"correct", count.correct}, {"total", count.total}});
  const std::optional<Index> falls = seen.falls_at();
  json["falls_at"] = falls ? Json(*falls) : Json(nullptr);
  return json;
}

/// A distance's range on a plot: alone up to 16, then eight ranges for each doubling.
std::pair<Index, Index> range_of(Index distance) {
  if (distance <= 16) return {distance, distance};
  Index width = 2;
  while (distance >= 16 * width) width *= 2;
  const Index from = distance / width * width;
  return {from, from + width - 1};
}

Plot distance_plot(const Overview& seen, const std::string& title, const std::string& about,
                   Mean HeadStatistics::AtDistance::*value, bool from_zero) {
  Plot plot{.kind = "curve",
            .title = title,
            .about = about,
            .columns = {{"name", "head"},
                        {"x", "middle"},
                        {"y", title},
                        {"from", "from"},
                        {"to", "to"},
                        {"pairs", "pairs"},
                        {"values", "mean"}}};
  double least = 0, greatest = from_zero ? 1e-6 : 0;
  for (const HeadOverview& head : seen.heads) {
    std::map<std::pair<Index, Index>, Mean> ranges;
    for (const auto& [distance, at] : head.statistics.by_distance) {
      Mean& range = ranges[range_of(distance)];
      range.sum += (at.*value).sum;
      range.count += (at.*value).count;
    }
    for (const auto& [range, mean] : ranges) {
      least = std::min(least, mean.value());
      greatest = std::max(greatest, mean.value());
      plot.rows.push_back({name(head), 0.5 * static_cast<double>(range.first + range.second),
                           page_number(mean.value()), range.first, range.second, mean.count,
                           Json::array({page_number(mean.value())})});
    }
  }
  if (!from_zero && least == 0 && greatest == 0) plot.rows.clear();  // no encoding of positions in the scores
  plot.signals = {{"x_title", "distance in tokens"},
                  {"y_title", title},
                  {"least", page_number(least)},
                  {"greatest", page_number(greatest)}};
  return plot;
}

Plot offset_plot(const Overview& seen) {
  Plot plot{.kind = "heat",
            .title = "Attention around the right key",
            .about = "By key minus right key, in tokens: negative ones come before it.",
            .columns = {{"row", "head"}, {"column", "offset"}, {"value", "attention"}}};
  double greatest = 1e-6;
  for (const HeadOverview& head : seen.heads) {
    for (const auto& [offset, attention] : head.statistics.by_offset) {
      greatest = std::max(greatest, attention.value());
      plot.rows.push_back({name(head), fmt::format("{:+}", offset), json_number(attention)});
    }
  }
  plot.signals = {{"labels", false}, {"domain", {0, page_number(greatest)}}, {"x_title", "offset"}};
  return plot;
}

Plot count_plot(const Overview& seen) {
  Plot plot{
      .kind = "curve",
      .title = "Contextual position of the right key",
      .about = fmt::format("What CoPE counts from the right key up to the query, by the true distance in {}.",
                           seen.distance_unit),
      .columns = {{"name", "head"},
                  {"x", "true distance"},
                  {"y", "mean count"},
                  {"cases", "cases"},
                  {"deviation", "standard deviation"},
                  {"values", "mean"}}};
  double greatest = 1e-6;
  for (const HeadOverview& head : seen.heads) {
    for (const auto& [distance, values] : head.statistics.counts) {
      const double mean = mean_of(values).value();
      greatest = std::max(greatest, mean);
      plot.rows.push_back({name(head), distance, page_number(mean), values.size(), page_number(deviation(values)),
                           Json::array({page_number(mean)})});
    }
  }
  plot.signals = {{"x_title", fmt::format("distance in {}", seen.distance_unit)},
                  {"y_title", "count"},
                  {"greatest", page_number(greatest)}};
  return plot;
}

Plot as_plot(const std::string& title, const std::string& about, const Table& table) {
  Plot plot{.kind = "table", .title = title, .about = about};
  for (const Column& column : table.columns) plot.columns.push_back({"cell", column.header});
  for (const auto& row : table.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row) cells.push_back(cell.text);
    plot.rows.push_back(std::move(cells));
  }
  return plot;
}

Table reach_table(const Overview& seen) {
  Table table{.columns = {{"distance of the right key"},
                          {"right", Align::right},
                          {"answers", Align::right},
                          {"accuracy", Align::right}}};
  for (const auto& [distance, count] : seen.by_reach) {
    table.rows.push_back({fmt::format("{}", distance), fmt::format("{}", count.correct),
                          fmt::format("{}", count.total), number(accuracy(count))});
  }
  return table;
}

std::string page(const Overview& seen) {
  Page page{.title = fmt::format("What {} learned, over {} samples", seen.id.encoding, seen.samples),
            .notes = notes(seen),
            .things = "heads",
            .tasks = {seen.id.task}};
  for (const HeadOverview& head : seen.heads) {
    page.names.push_back(name(head));
    page.families.push_back(fmt::format("layer {}", head.layer));
  }
  page.sections.push_back(
      {"Heads",
       "",
       {as_plot(
           "Heads",
           "Entropy is in nats. Of the attention: what lies on the right key, on nearer "
           "keys and on the rest. The margins: of q k / sqrt(D), the right key's minus the mean of the keys between it and the "
           "query; of the positional part, by how much it falls with each token; and their ratio, in tokens.",
           head_table(seen))}});
  page.sections.push_back(
      {"By distance",
       "",
       {distance_plot(seen, "mean attention", "", &HeadStatistics::AtDistance::attention, true),
        distance_plot(seen, "mean positional part of the score", "", &HeadStatistics::AtDistance::positional,
                      false)}});
  if (seen.has_sources()) {
    page.sections.push_back({"The right key", "", {offset_plot(seen), count_plot(seen)}});
    page.sections.push_back({"Parts of the scores",
                             "Means at the right key and at the other keys.",
                             {as_plot("Parts", "", part_table(seen))}});
    page.sections.push_back(
        {"Answers", "", {as_plot("Answers by the distance of the right key, in tokens", "", reach_table(seen))}});
  }
  for (Section& section : page.sections)
    std::erase_if(section.plots, [](const Plot& plot) { return plot.rows.empty(); });
  std::erase_if(page.sections, [](const Section& section) { return section.plots.empty(); });
  return html(page);
}

}  // namespace

std::optional<Index> Overview::falls_at() const {
  std::optional<Index> falls;
  Count beyond;
  for (auto at = by_reach.rbegin(); at != by_reach.rend(); ++at) {
    beyond += at->second;
    if (accuracy(beyond) < kRight && accuracy(at->second) < kRight) falls = at->first;
  }
  return falls;
}

Overview look_over(const SavedModel& saved, const std::string& split, std::optional<int> length, int samples) {
  const Task& task = *saved.task->tasks[find_split(*saved.task, split)];
  const Model& model = saved.model;
  const SampleStream stream{task, "test:" + split, saved.experiment.seed, length};
  const bool answers_only = saved.task->options.training.outputs == Outputs::answers;
  const Index outputs = answers_only ? task.answers() : task.vocabulary();
  Overview seen{.id = saved.experiment.id(),
                .split = split,
                .distance_unit = saved.task->info->distance_unit,
                .samples = samples};
  for (int layer = 0; layer < model.shape.layers; ++layer) {
    for (int head = 0; head < model.shape.heads; ++head) seen.heads.push_back({layer, head, {}});
  }
  StepTables tables;
  Activations activations;
  for (int n = 0; n < samples; ++n) {
    const Drawn drawn = draw(stream, *model.encoding, false, static_cast<std::uint64_t>(n), 1).front();
    const Example& example = drawn.sample.example;
    model.transformer->prepare(saved.parameters, drawn.sequence, tables, nullptr);
    model.transformer->forward(saved.parameters, drawn.sequence, tables, nullptr, activations);
    std::vector<Query> queries;
    for (size_t k = 0; k < example.scored.size(); ++k) {
      Query query{.at = example.scored[k]};
      query.keys = model.shape.causal ? query.at + 1 : static_cast<Index>(example.tokens.size());
      const bool right =
          answer(activations.logits, static_cast<Index>(k), example.candidates, outputs) == drawn.targets[k];
      seen.answers += {right, 1};
      query.source = answer_source(saved.task->info->name, example, k);
      if (query.source) {
        seen.by_reach[std::abs(query.at - *query.source)] += {right, 1};
      }
      if (!example.distances.empty()) query.distance = example.distances[k];
      queries.push_back(query);
    }
    for (HeadOverview& head : seen.heads) {
      if (head.head > 0) continue;  // the maps of a layer have all of its heads
      const std::vector<AttentionMap> maps =
          model.transformer->inspect(saved.parameters, drawn.sequence, tables.tables, head.layer, activations);
      for (int h = 0; h < model.shape.heads; ++h) {
        HeadStatistics& statistics = (&head)[h].statistics;
        for (const Query& query : queries) statistics.add(maps, static_cast<size_t>(h), query);
      }
    }
  }
  return seen;
}

std::string text(const Overview& seen, Format format, const ConsoleStyle& style) {
  if (format == Format::html) return page(seen);
  if (format == Format::json) return pretty(to_json(seen));
  if (format == Format::csv) return csv(distance_table(seen));
  std::string text;
  std::vector<Table> tables{head_table(seen)};
  if (seen.has_sources()) tables.push_back(part_table(seen));
  for (const Table& table : tables)
    text += (format == Format::markdown ? markdown(table) : console(table, style)) + "\n";
  for (const std::string& note : notes(seen))
    text += format == Format::markdown ? markdown_text(note) + "\n\n" : printable(note) + "\n";
  return text;
}

}  // namespace posbench
