#include "harness/commands/inspect_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/commands/inspection.h"
#include "results/document/page.h"
#include "results/document/table.h"
#include "results/statistics/statistics.h"

namespace posbench {
namespace {

constexpr const char* kAboutHeads =
    "Entropy is in nats. The columns 'right key', 'nearer' and 'farther' are the attention on the right key, on "
    "nearer keys and on the rest. The content margin is the content term of the right key minus its mean over the "
    "keys between it and the query. The position margin is the fall of the positional part with each token. "
    "Their ratio is in tokens. ";

std::string measured_head_name(const MeasuredHead& head) {
  return head_name(static_cast<size_t>(head.layer), static_cast<size_t>(head.head));
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.3f}", value) : "-"; }
std::string number(const Mean& mean) { return mean.count > 0 ? number(mean.value()) : "-"; }
std::string number(const std::optional<double>& value) { return value ? number(*value) : "-"; }

/// Describes the head that attends most to the evidence, and the measured accuracy by the distance of the
/// evidence.
std::string describe_best_head(const HeadReport& report, const MeasuredHead& best) {
  const HeadStatistics& head = best.statistics;
  std::string prediction = "They predict no distance at which it fails";
  if (const auto predicted = head.predicted_reach(report.farthest()))
    prediction = fmt::format("Their ratio predicts that nearer keys win from a distance of {:.1f} on", *predicted);
  constexpr double kSufficient = HeadReport::kSufficientAccuracy;
  const std::optional<Index> breakdown = report.breakdown_distance();
  const std::string measured =
      breakdown
          ? fmt::format("fewer than {} of the answers are right from a distance of {} on", kSufficient, *breakdown)
          : fmt::format("{} or more of the answers are right up to a distance of {}", kSufficient,
                        report.farthest());
  return fmt::format(
      "{} attends most to the right key ({}). Its content margin is {}, and its position margin is {} for each token. {}. Measured: {}.",
      measured_head_name(best), number(head.on_evidence), number(head.content_margin),
      number(head.position_margin(report.farthest())), prediction, measured);
}

std::vector<std::string> make_notes(const HeadReport& report, const std::string& unfinished_run) {
  std::vector<std::string> notes{fmt::format("{} on {}, seed {}: {} samples of {}, {} of {} answers right",
                                             report.id.encoding, report.id.task, report.id.seed, report.samples,
                                             report.split, report.answers.correct, report.answers.total)};
  if (!unfinished_run.empty()) notes.push_back(unfinished_run);
  notes.push_back(
      "Means over the queries whose answers are scored. Distances are in tokens from the key to the query; "
      "score = content + positional part.");
  const std::optional<MeasuredHead> best = report.most_on_evidence();
  notes.push_back(best ? describe_best_head(report, *best)
                       : "The task does not name the token that holds an answer, so the right key is unknown.");
  return notes;
}

Table head_table(const HeadReport& report) {
  Table table{.columns = {{"head"}, {"position term"}, {"entropy", Align::right}}};
  if (report.has_evidence()) {
    for (const char* column : {"right key", "nearer", "farther", "content margin", "position margin", "ratio"})
      table.columns.push_back({column, Align::right});
  }
  for (const MeasuredHead& head : report.heads) {
    const HeadStatistics& s = head.statistics;
    table.rows.push_back({measured_head_name(head), to_string(s.position_term.locality()), number(s.entropy)});
    if (!report.has_evidence()) continue;
    for (const std::string& cell :
         {number(s.on_evidence), number(s.nearer), number(s.farther), number(s.content_margin),
          number(s.position_margin(report.farthest())), number(s.predicted_reach(report.farthest()))})
      table.rows.back().push_back(cell);
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
  if (!report.has_evidence()) return json;
  json["right_key"] = {{"attention", round_for_page(s.on_evidence.value())},
                       {"nearer", round_for_page(s.nearer.value())},
                       {"farther", round_for_page(s.farther.value())}};
  json["by_offset"] = Json::array();
  for (const auto& [offset, attention] : s.by_offset)
    json["by_offset"].push_back({{"offset", offset}, {"attention", round_for_page(attention.value())}});
  json["content_margin"] = round_for_page(s.content_margin.value());
  json["position_margin"] = round_for_page(s.position_margin(report.farthest()));
  json["predicted_reach"] = round_for_page(s.predicted_reach(report.farthest()));
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
  if (!report.has_evidence()) return json;
  json["by_reach"] = Json::array();
  for (const auto& [distance, count] : report.by_evidence_distance)
    json["by_reach"].push_back({{"distance", distance}, {"correct", count.correct}, {"total", count.total}});
  const std::optional<Index> breakdown = report.breakdown_distance();
  json["falls_at"] = breakdown ? Json(*breakdown) : Json(nullptr);
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

Plot offset_plot(const HeadReport& report) {
  Plot plot{.kind = "heat",
            .title = "Attention around the right key",
            .about = "The offset is the position of the key minus that of the right key, in tokens.",
            .columns = {{"row", "head"}, {"column", "offset"}, {"value", "attention"}}};
  double greatest = 1e-6;
  for (const MeasuredHead& head : report.heads) {
    for (const auto& [offset, attention] : head.statistics.by_offset) {
      greatest = std::max(greatest, attention.value());
      plot.rows.push_back(
          {measured_head_name(head), fmt::format("{:+}", offset), round_for_page(attention.value())});
    }
  }
  plot.signals = {{"labels", false}, {"domain", {0, round_for_page(greatest)}}, {"x_title", "offset"}};
  return plot;
}

Table accuracy_table(const HeadReport& report) {
  Table table{.columns = {{"distance of the right key"},
                          {"right", Align::right},
                          {"answers", Align::right},
                          {"accuracy", Align::right}}};
  for (const auto& [distance, count] : report.by_evidence_distance) {
    table.rows.push_back({fmt::format("{}", distance), fmt::format("{}", count.correct),
                          fmt::format("{}", count.total), number(accuracy(count))});
  }
  return table;
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
  if (report.has_evidence()) page.sections.push_back({"The right key", "", {offset_plot(report)}});
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
  if (report->has_evidence()) {
    add("Parts of the scores", part_table(*report), "Means at the right key and at the other keys.");
    add("Answers", accuracy_table(*report), "By the distance of the right key, in tokens.");
  }
  document.page = [report] { return make_page(*report); };
  document.json = [report] { return to_json(*report); };
  return document;
}

}  // namespace posbench
