// `posbench inspect` prints the scores and attention of a saved model, on one example or as means over many
// samples.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/analysis/head_report.h"
#include "harness/commands/commands.h"
#include "harness/commands/inspection.h"
#include "harness/config/user_files.h"
#include "harness/console/output.h"
#include "harness/exchange/sample_set.h"
#include "harness/exchange/saved_model.h"
#include "harness/runs/run_record.h"
#include "harness/training/evaluate.h"
#include "model/block.h"
#include "results/document/page.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace {

struct InspectRequest {
  std::filesystem::path run;  // a run directory with models
  std::string task, encoding;
  std::uint64_t seed = 0;
  std::string split = "in_distribution";
  std::uint64_t example = 0;  // index in the test stream of the split
  std::optional<int> length;  // in the task's unit; empty: drawn by the task
  std::optional<int> query;   // position whose row the tables show; empty: the last scored one
  std::optional<int> over;    // number of samples; empty: one example
  Output output;
};

/// Returns "runs/mine: 10 of 18 experiments", or an empty text if the run has finished.
std::string unfinished_run_text(const std::filesystem::path& run) {
  if (!find_report(run).empty() || !std::filesystem::exists(run / kManifestFile)) return "";
  return fmt::format("{}: {}", run.string(), progress_text(read_run(run)));
}

std::filesystem::path find_model_file(const InspectRequest& request) {
  try {
    return find_model(request.run, request.task, request.encoding, request.seed);
  } catch (const InputError& error) {
    const std::string unfinished = unfinished_run_text(request.run);
    throw InputError(unfinished.empty() ? error.what() : fmt::format("{} ({})", error.what(), unfinished));
  }
}

/// Loads the model. If a length is requested, all samples of the split have it.
SavedModel load_requested(const InspectRequest& request) {
  SavedModel saved = load_model(find_model_file(request));
  if (request.length) set_length(*saved.task, find_split(*saved.task, request.split), *request.length);
  return saved;
}

Inspection inspect_example(const InspectRequest& request) {
  const SavedModel saved = load_requested(request);
  const size_t split = find_split(*saved.task, request.split);
  const Task& task = *saved.task->tasks[split];
  const Model& model = saved.model;
  require_attention(model.config);
  const SampleStream samples = saved.task->stream({Purpose::test, request.split, request.seed});
  const PreparedSample drawn =
      draw_batch(samples, *model.encoding, /*training=*/false, request.example, 1).front();
  const Example& example = drawn.sample.example;

  StepCache tables;
  SequenceWorkspace activations;
  model.transformer->prepare(saved.parameters, drawn.sequence, tables, nullptr);
  model.transformer->forward(saved.parameters, drawn.sequence, tables, nullptr, activations);

  Inspection inspection{.id = saved.experiment.id(), .split = request.split, .causal = model.config.causal};
  for (const int token : example.tokens) inspection.tokens.push_back(task.token_text(token));
  inspection.unfinished_run = unfinished_run_text(request.run);
  inspection.scored = example.scored;
  for (size_t n = 0; n < inspection.scored.size(); ++n) {
    inspection.expected.push_back(task.token_text(drawn.targets[n]));
    const ScoredAnswer answer = score_row(activations.logits, static_cast<Index>(n), samples.num_outputs(),
                                          example.candidates, drawn.targets[n]);
    inspection.answered.push_back(task.token_text(answer.predicted));
  }
  for (int layer = 0; layer < model.config.layers; ++layer) {
    inspection.layers.push_back(
        model.transformer->inspect(saved.parameters, drawn.sequence, tables.tables, layer, activations));
  }
  return inspection;
}

Document inspect_one(const InspectRequest& request) {
  Inspection inspection = read_user_files([&] { return inspect_example(request); });
  const Index last = inspection.scored.empty() ? inspection.length() - 1 : inspection.scored.back();
  const Index query = request.query.value_or(static_cast<int>(last));
  if (query >= inspection.length()) {
    throw InputError(
        fmt::format("--query is {}, expected a position from 0 to {}", query, inspection.length() - 1));
  }
  return make_inspection_document(std::move(inspection), query);
}

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

/// Returns the document of --over.
Document inspect_over(const InspectRequest& request) {
  const auto report = std::make_shared<const HeadReport>(
      read_user_files([&] { return measure_heads(load_requested(request), request.split, *request.over); }));
  Document document{
      .title = fmt::format("Attention heads of {}, over {} samples", report->id.encoding, report->samples)};
  for (std::string& note : make_notes(*report, unfinished_run_text(request.run)))
    document.blocks.emplace_back(Text{std::move(note)});
  document.blocks.insert(document.blocks.end(),
                         {Heading{"Heads"}, head_table(*report), Note{std::string(kAboutHeads) + kLocalityRule}});
  if (report->has_evidence)
    document.blocks.insert(document.blocks.end(), {Heading{"Parts of the scores"}, part_table(*report),
                                                   Note{"Means at the right key and at the other keys."}});
  document.page = [report] { return make_page(*report); };
  document.json = [report] { return to_json(*report); };
  return document;
}

/// Throws InputError if the model or a requested name does not exist.
void inspect(const InspectRequest& request) {
  output_format(request.output);  // rejects an invalid output before the computation
  write_document(request.output, request.over ? inspect_over(request) : inspect_one(request));
}

}  // namespace

void add_inspect(CommandLine& line) {
  const auto request = std::make_shared<InspectRequest>();
  Command& command =
      line.add(kResults, "inspect", "Show the scores, attention, gates and biases of a saved model");
  command.folder("run", request->run, "run directory of 'posbench run --save-models'").required();
  command.name("task", request->task, ValueKind::task, "task of the run, with the same options").required();
  command.name("encoding", request->encoding, ValueKind::encoding, "encoding of the run, with the same options")
      .required();
  command.seed("-s,--seed", request->seed, "seed of the experiment");
  command.name("--split", request->split, ValueKind::split, "split whose examples are shown");
  command.seed("--example", request->example, "index of the example in the test stream of the split");
  command.number("--length", request->length, 1, 100000, "length of the example, in the task's unit")
      .default_text("drawn by the task");
  command
      .number("--query", request->query, 0, 1000000,
              "query position that the tables, and the plots of one query, show")
      .default_text("the last scored one");
  command
      .number(
          "--over", request->over, 1, 1000000,
          "number of samples of the split over which means are shown, instead of one example: attention and positional "
          "part by distance, entropy, attention on the right key")
      .default_text("one example")
      .excludes("--example")
      .excludes("--query");
  add_output(command, request->output);
  command.explain({{"posbench inspect runs/mine flip_flop cope --seed 1", ""},
                   {"posbench inspect runs/mine flip_flop cope --split ood_sparse -o cope.html", ""},
                   {"posbench inspect runs/mine flip_flop cope --split ood_sparse --over 256 -o cope.html", ""}},
                  {kLocalityRule});
  command.run([request] { inspect(*request); });
}

}  // namespace posbench
