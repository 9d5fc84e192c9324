#include "harness/commands/inspect_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/commands/inspection.h"
#include "results/document/page.h"
#include "results/document/table.h"

namespace posbench {
namespace {

constexpr const char* kAboutHeads =
    "Entropy is in nats. The columns 'right key', 'nearer' and 'farther' are the attention on the right key, on "
    "nearer keys and on the rest. ";

std::string measured_head_name(const MeasuredHead& head) {
  return head_name(static_cast<size_t>(head.layer), static_cast<size_t>(head.head));
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.3f}", value) : "-"; }
std::string number(const Mean& mean) { return mean.count > 0 ? number(mean.value()) : "-"; }

std::vector<std::string> make_notes(const HeadReport& report, const std::string& unfinished_run) {
  std::vector<std::string> notes{fmt::format("{} on {}, seed {}: {} samples of {}, {} of {} answers right",
                                             report.id.encoding, report.id.task, report.id.seed, report.samples,
                                             report.split, report.answers.correct, report.answers.total)};
  if (!unfinished_run.empty()) notes.push_back(unfinished_run);
  notes.push_back(
      "Means over the queries whose answers are scored. Distances are in tokens from the key to the query; "
      "score = content + positional part.");
  if (!report.has_evidence)
    notes.emplace_back("The task does not name the token that holds an answer, so the right key is unknown.");
  return notes;
}

Table head_table(const HeadReport& report) {
  Table table{.columns = {{"head"}, {"position term"}, {"entropy", Align::right}}};
  if (report.has_evidence) {
    for (const char* column : {"right key", "nearer", "farther"}) table.columns.push_back({column, Align::right});
  }
  for (const MeasuredHead& head : report.heads) {
    const HeadStatistics& s = head.statistics;
    table.rows.push_back({measured_head_name(head), to_string(s.position_term.locality()), number(s.entropy)});
    if (!report.has_evidence) continue;
    for (const Mean& mean : {s.on_evidence, s.nearer, s.farther}) table.rows.back().push_back(number(mean));
  }
  return table;
}

Table part_table(const HeadReport& report) {
  Table table{.columns = {{"head"},
                          {"part"},
                          {"right key", Align::right},
                          {"other keys", Align::right},
                          {"difference", Align::right}}};
  for (const MeasuredHead& head : report.heads) {
    for (const auto& [part, at] : head.statistics.parts) {
      table.rows.push_back({measured_head_name(head), part, number(at.evidence), number(at.others),
                            number(at.evidence.value() - at.others.value())});
    }
  }
  return table;
}

Json to_json(const HeadReport& report, const MeasuredHead& head) {
  const HeadStatistics& s = head.statistics;
  Json json{{"layer", head.layer}, {"head", head.head}, {"entropy", round_for_page(s.entropy.value())}};
  json["position_term"] = locality_json(s.position_term.locality());
  json["by_distance"] = Json::array();
  for (const auto& [distance, at] : s.by_distance) {
    json["by_distance"].push_back({{"distance", distance},
                                   {"pairs", at.attention.count},
                                   {"attention", round_for_page(at.attention.value())},
                                   {"positional", round_for_page(at.positional.value())}});
  }
  if (!report.has_evidence) return json;
  json["right_key"] = {{"attention", round_for_page(s.on_evidence.value())},
                       {"nearer", round_for_page(s.nearer.value())},
                       {"farther", round_for_page(s.farther.value())}};
  json["parts"] = Json::array();
  for (const auto& [part, at] : s.parts)
    json["parts"].push_back({{"name", part},
                             {"right_key", round_for_page(at.evidence.value())},
                             {"other_keys", round_for_page(at.others.value())}});
  return json;
}

Json to_json(const HeadReport& report) {
  Json json{{"task", report.id.task},       {"encoding", report.id.encoding}, {"seed", report.id.seed},
            {"split", report.split},        {"samples", report.samples},      {"correct", report.answers.correct},
            {"total", report.answers.total}};
  json["heads"] = Json::array();
  for (const MeasuredHead& head : report.heads) json["heads"].push_back(to_json(report, head));
  return json;
}

/// Returns the range of a distance on a plot. Distances up to 16 have a range each; each further doubling has
/// eight ranges.
std::pair<Index, Index> range_of(Index distance) {
  if (distance <= 16) return {distance, distance};
  Index width = 2;
  while (distance >= 16 * width) width *= 2;
  const Index from = distance / width * width;
  return {from, from + width - 1};
}

Plot distance_plot(const HeadReport& report, const std::string& title, Mean HeadStatistics::AtDistance::*value,
                   bool from_zero) {
  Plot plot{.kind = "curve",
            .title = title,
            .columns = {{"name", "head"},
                        {"x", "middle"},
                        {"y", title},
                        {"from", "from"},
                        {"to", "to"},
                        {"pairs", "pairs"},
                        {"values", "mean"}}};
  double smallest = 0, largest = from_zero ? 1e-6 : 0;
  for (const MeasuredHead& head : report.heads) {
    std::map<std::pair<Index, Index>, Mean> ranges;
    for (const auto& [distance, at] : head.statistics.by_distance) {
      Mean& range = ranges[range_of(distance)];
      range.sum += (at.*value).sum;
      range.count += (at.*value).count;
    }
    for (const auto& [range, mean] : ranges) {
      if (mean.count == 0) continue;  // all keys of these distances are hidden
      smallest = std::min(smallest, mean.value());
      largest = std::max(largest, mean.value());
      plot.rows.push_back({measured_head_name(head), 0.5 * static_cast<double>(range.first + range.second),
                           round_for_page(mean.value()), range.first, range.second, mean.count,
                           Json::array({round_for_page(mean.value())})});
    }
  }
  if (!from_zero && smallest == 0 && largest == 0) plot.rows.clear();  // The scores have no positional part.
  plot.signals = {{"x_title", "distance in tokens"},
                  {"y_title", title},
                  {"least", round_for_page(smallest)},
                  {"greatest", round_for_page(largest)}};
  return plot;
}

Page make_page(const HeadReport& report) {
  Page page{.items = {.plural = "heads", .tasks = {report.id.task}}};
  for (const MeasuredHead& head : report.heads) {
    page.items.names.push_back(measured_head_name(head));
    page.items.families.push_back(fmt::format("layer {}", head.layer));
  }
  page.sections.push_back(
      {"By distance",
       "",
       {distance_plot(report, "mean attention", &HeadStatistics::AtDistance::attention, /*from_zero=*/true),
        distance_plot(report, "mean positional part of the score", &HeadStatistics::AtDistance::positional,
                      /*from_zero=*/false)}});
  return page;
}

}  // namespace

Document make_head_document(HeadReport measured, const std::string& unfinished_run) {
  const auto report = std::make_shared<const HeadReport>(std::move(measured));
  Document document{
      .title = fmt::format("Attention heads of {}, over {} samples", report->id.encoding, report->samples)};
  const auto add = [&](const char* heading, Table table, const std::string& note) {
    for (Document::Block block : {Document::Block(Heading{heading}), Document::Block(std::move(table))})
      document.blocks.push_back(std::move(block));
    if (!note.empty()) document.blocks.emplace_back(Note{note});
  };
  for (std::string& note : make_notes(*report, unfinished_run))
    document.blocks.emplace_back(Text{std::move(note)});
  add("Heads", head_table(*report), std::string(kAboutHeads) + kLocalityRule);
  if (report->has_evidence)
    add("Parts of the scores", part_table(*report), "Means at the right key and at the other keys.");
  document.page = [report] { return make_page(*report); };
  document.json = [report] { return to_json(*report); };
  return document;
}

}  // namespace posbench
