// `posbench inspect` prints the scores and attention of a saved model, on one example or as means over many
// samples.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "encodings/registry.h"
#include "harness/analysis/head_report.h"
#include "harness/commands/commands.h"
#include "harness/commands/inspect_over.h"
#include "harness/commands/inspection.h"
#include "harness/config/user_files.h"
#include "harness/console/help.h"
#include "harness/console/lines.h"
#include "harness/console/output.h"
#include "harness/exchange/sample_set.h"
#include "harness/exchange/saved_model.h"
#include "harness/runs/run_record.h"
#include "harness/training/evaluate.h"
#include "model/block.h"
#include "results/document/page.h"
#include "results/document/table.h"
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

/// Returns a caption and a table for each layer and head, with a row for each key that the query sees.
std::vector<std::pair<std::string, Table>> make_tables(const Inspection& inspection, Index query) {
  std::vector<std::pair<std::string, Table>> tables;
  for (size_t layer = 0; layer < inspection.layers.size(); ++layer) {
    for (size_t head = 0; head < inspection.num_heads(layer); ++head) {
      Table table{.columns = {{"key"}}};
      for (const AttentionMap& map : inspection.layers[layer]) table.columns.push_back({map.name, Align::right});
      for (Index key = 0; key < inspection.keys(query); ++key) {
        table.rows.push_back({inspection.position_text(key)});
        for (const AttentionMap& map : inspection.layers[layer]) {
          table.rows.back().push_back(fmt::format("{:.3f}", map.values[head](query, key)));
        }
      }
      tables.emplace_back(fmt::format("layer {}, head {}, query {}", layer, head, inspection.position_text(query)),
                          std::move(table));
    }
  }
  return tables;
}

/// Returns the names of the maps of all layers, in the order of their first layers.
std::vector<std::string> map_names(const Inspection& inspection) {
  std::vector<std::string> names;
  for (const std::vector<AttentionMap>& maps : inspection.layers) {
    for (const AttentionMap& map : maps)
      if (std::ranges::find(names, map.name) == names.end()) names.push_back(map.name);
  }
  return names;
}

/// Returns one table of all layers and heads. Scores of hidden keys, and maps that a layer does not have, are
/// empty.
Table make_long_table(const Inspection& inspection, Index query) {
  Table all{.columns = {{"layer"}, {"head"}, {"query"}, {"key"}, {"word"}}};
  const std::vector<std::string> names = map_names(inspection);
  for (const std::string& name : names) all.columns.push_back({name});
  all.columns.push_back({"position term"});
  for (size_t layer = 0; layer < inspection.layers.size(); ++layer) {
    for (size_t head = 0; head < inspection.num_heads(layer); ++head) {
      const Locality measured = inspection.locality(layer, head);
      const std::string locality = measured == Locality::none ? "" : to_string(measured);
      for (Index key = 0; key < inspection.keys(query); ++key) {
        all.rows.push_back({fmt::format("{}", layer), fmt::format("{}", head), fmt::format("{}", query),
                            fmt::format("{}", key), inspection.tokens[static_cast<size_t>(key)]});
        for (const std::string& name : names) {
          const auto map = std::ranges::find(inspection.layers[layer], name, &AttentionMap::name);
          const double value = map == inspection.layers[layer].end() ? NAN : map->values[head](query, key);
          all.rows.back().push_back(std::isfinite(value) ? fmt::format("{:.6g}", value) : "");
        }
        all.rows.back().push_back(locality);
      }
    }
  }
  return all;
}

Table head_table(const Inspection& inspection) {
  Table table{.columns = {{"head"}, {"position term"}}};
  for (size_t layer = 0; layer < inspection.layers.size(); ++layer) {
    for (size_t head = 0; head < inspection.num_heads(layer); ++head)
      table.rows.push_back({head_name(layer, head), to_string(inspection.locality(layer, head))});
  }
  return table;
}

Json to_json(const Inspection& inspection) {
  Json json;
  json["task"] = inspection.id.task;
  json["encoding"] = inspection.id.encoding;
  json["seed"] = inspection.id.seed;
  json["split"] = inspection.split;
  json["words"] = inspection.tokens;
  json["scored"] = inspection.scored;
  json["expected"] = inspection.expected;
  json["answered"] = inspection.answered;
  json["maps"] = Json::array();
  for_each_map(inspection, [&](size_t layer, size_t head, const AttentionMap& map, const Matrix& values) {
    Json rows = Json::array();
    for (Index i = 0; i < inspection.length(); ++i) {
      Json row = Json::array();
      for (Index j = 0; j < inspection.keys(i); ++j) row.push_back(round_for_page(values(i, j)));
      rows.push_back(std::move(row));
    }
    json["maps"].push_back({{"layer", layer}, {"head", head}, {"name", map.name}, {"values", std::move(rows)}});
  });
  json["heads"] = Json::array();
  for (size_t layer = 0; layer < inspection.layers.size(); ++layer) {
    for (size_t head = 0; head < inspection.num_heads(layer); ++head) {
      json["heads"].push_back(
          {{"layer", layer}, {"head", head}, {"position_term", locality_json(inspection.locality(layer, head))}});
    }
  }
  return json;
}

std::string format_inspection(const Inspection& inspection, Format format, Index query,
                              const ConsoleStyle& style) {
  if (format == Format::html) return make_page(inspection, query);
  if (format == Format::json) return to_indented_json(to_json(inspection));
  if (format == Format::csv) return to_csv(make_long_table(inspection, query));
  std::string text;
  std::vector<std::pair<std::string, Table>> tables = make_tables(inspection, query);
  tables.emplace_back("position term of each head", head_table(inspection));
  for (const auto& [caption, table] : tables) {
    text += line_text(caption, format, {}) + (format == Format::markdown ? "\n\n" : "\n") +
            table_text(table, format, style) + "\n";
  }
  for (const std::string& note : make_notes(inspection)) {
    text += line_text(note, format, style) + (format == Format::markdown ? "\n\n" : "\n");
  }
  return text;
}

void inspect_over(const InspectRequest& request) {
  const HeadReport report =
      read_user_files([&] { return measure_heads(load_requested(request), request.split, *request.over); });
  const Output& output = request.output;
  write_output(output, format_head_report(report, unfinished_run_text(request.run), output_format(output),
                                          console_style(output)));
  write_path(output.file);
}

/// Prints the maps of each layer and head: the scores, their content and positional part, the attention and maps
/// of the encoding. The console, Markdown and CSV show one query; JSON and HTML show all. Throws InputError if the
/// model or a requested name does not exist.
void inspect(const InspectRequest& request) {
  output_format(request.output);  // rejects an invalid output before the computation
  if (request.over) return inspect_over(request);
  const Inspection inspection = read_user_files([&] { return inspect_example(request); });
  const Index last = inspection.scored.empty() ? inspection.length() - 1 : inspection.scored.back();
  const Index query = request.query.value_or(static_cast<int>(last));
  if (query >= inspection.length()) {
    throw InputError(
        fmt::format("--query is {}, expected a position from 0 to {}", query, inspection.length() - 1));
  }
  const Output& output = request.output;
  write_output(output, format_inspection(inspection, output_format(output), query, console_style(output)));
  write_path(output.file);
}

}  // namespace

void add_inspect(CLI::App& app, Invocation&) {
  const auto request = std::make_shared<InspectRequest>();
  CLI::App* command =
      app.add_subcommand("inspect", "Show the scores, attention, gates and biases of a saved model")
          ->group(kResults);
  command->add_option("run", request->run, "run directory of 'posbench run --save-models'")->required();
  command->add_option("task", request->task, "task of the run, with the same options")->required();
  command->add_option("encoding", request->encoding, "encoding of the run, with the same options")->required();
  command->add_option("-s,--seed", request->seed, "seed of the experiment")->check(seed_range());
  command->add_option("--split", request->split, "split whose examples are shown");
  command->add_option("--example", request->example, "index of the example in the test stream of the split")
      ->check(seed_range());
  command->add_option("--length", request->length, "length of the example, in the task's unit")
      ->default_str("drawn by the task")
      ->check(in_range({1, 100000}));
  command
      ->add_option("--query", request->query, "query position that the tables, and the plots of one query, show")
      ->default_str("the last scored one")
      ->check(in_range({0, 1000000}));
  command
      ->add_option(
          "--over", request->over,
          "number of samples of the split over which means are shown, instead of one example: attention and positional part by "
          "distance, entropy, attention on the right key, margins")
      ->default_str("one example")
      ->check(in_range({1, 1000000}))
      ->excludes("--example")
      ->excludes("--query");
  add_output(*command, request->output);
  set_footer(*command,
             {{"posbench inspect runs/mine flip_flop cope --seed 1", ""},
              {"posbench inspect runs/mine flip_flop cope --split ood_sparse -o cope.html", ""},
              {"posbench inspect runs/mine flip_flop cope --split ood_sparse --over 256 -o cope.html", ""}},
             {kLocalityRule});
  command->callback([request] { inspect(*request); });
}

}  // namespace posbench
