// `posbench inspect`: what a trained encoding learned, seen on one example.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/text.h"
#include "encodings/registry.h"
#include "harness/commands/commands.h"
#include "harness/commands/inspect_over.h"
#include "harness/commands/output.h"
#include "harness/runs/run_directory.h"
#include "harness/runs/saved_model.h"
#include "results/presentation/page.h"
#include "base/printable.h"
#include "results/presentation/table.h"

namespace posbench {
namespace {

struct InspectRequest {
  std::filesystem::path run;  // a run directory with models
  std::string task, encoding;
  std::uint64_t seed = 0;
  std::string split = "in_distribution";
  std::uint64_t example = 0;  // its number in the test stream of the split
  std::optional<int> length;  // in the task's unit; drawn without it
  std::optional<int> query;   // the place that tables tell of; the last scored one without it
  std::optional<int> over;    // how many samples, instead of one example
  Output output;
};

constexpr Index kMaxTokens = 160;  // of a page: its maps have a cell for every pair

/// Everything shown of one model and one example.
struct Inspection {
  ExperimentId id;
  std::string split;
  bool causal = true;
  std::vector<std::string> words;  // (T)
  std::vector<int> scored;         // the places whose answers count, and for each:
  std::vector<std::string> expected_words, answer_words;
  std::vector<std::vector<AttentionMap>> layers;
  std::string run;  // "runs/mine: 10 of 18 experiments", where its run has not finished; otherwise empty

  Index length() const { return static_cast<Index>(words.size()); }
  Index keys(Index query) const { return causal ? query + 1 : length(); }
  std::string place(Index t) const { return fmt::format("{} {}", t, words[static_cast<size_t>(t)]); }
};

/// "runs/mine: 10 of 18 experiments"; empty where the run is finished.
std::string how_far(const std::filesystem::path& run) {
  if (std::filesystem::exists(run / "report.json") || !std::filesystem::exists(run / "manifest.json")) return "";
  return fmt::format("{}: {}", run.string(), so_far(read_run(run)));
}

std::filesystem::path find(const InspectRequest& request) {
  try {
    return find_model(request.run, request.task, request.encoding, request.seed);
  } catch (const std::invalid_argument& error) {
    const std::string far = how_far(request.run);
    throw std::invalid_argument(far.empty() ? error.what() : fmt::format("{} ({})", error.what(), far));
  }
}

Inspection look(const InspectRequest& request) {
  const SavedModel saved = load_model(find(request));
  const size_t split = find_split(*saved.task, request.split);
  const Task& task = *saved.task->tasks[split];
  const Model& model = saved.model;
  const SampleStream samples{.task = task,
                             .purpose = "test:" + request.split,
                             .seed = request.seed,
                             .length = request.length,
                             .loops = saved.task->options.evaluation.loops};
  const Drawn drawn = draw(samples, *model.encoding, false, request.example, 1).front();
  const Example& example = drawn.sample.example;

  StepTables tables;
  Activations activations;
  model.transformer->prepare(saved.parameters, drawn.sequence, tables, nullptr);
  model.transformer->forward(saved.parameters, drawn.sequence, tables, nullptr, activations);

  Inspection seen{.id = saved.experiment.id(), .split = request.split, .causal = model.shape.causal};
  for (const int token : example.tokens) seen.words.push_back(task.word(token));
  seen.run = how_far(request.run);
  seen.scored = example.scored;
  const bool answers_only = saved.task->options.training.outputs == Outputs::answers;
  const Index outputs = answers_only ? task.answers() : task.vocabulary();
  for (size_t n = 0; n < seen.scored.size(); ++n) {
    seen.expected_words.push_back(task.word(drawn.targets[n]));
    seen.answer_words.push_back(
        task.word(answer(activations.logits, static_cast<Index>(n), example.candidates, outputs)));
  }
  for (int layer = 0; layer < model.shape.layers; ++layer) {
    seen.layers.push_back(
        model.transformer->inspect(saved.parameters, drawn.sequence, tables.tables, layer, activations));
  }
  return seen;
}

template <class F>
void for_each_map(const Inspection& seen, F f) {
  for (size_t layer = 0; layer < seen.layers.size(); ++layer) {
    for (size_t head = 0; head < seen.layers[layer].front().values.size(); ++head) {
      for (const AttentionMap& map : seen.layers[layer]) f(layer, head, map.name, map.values[head]);
    }
  }
}

/// A row for each key that the query sees, of one layer and head a table.
std::vector<std::pair<std::string, Table>> tables(const Inspection& seen, Index query) {
  std::vector<std::pair<std::string, Table>> tables;
  for (size_t layer = 0; layer < seen.layers.size(); ++layer) {
    for (size_t head = 0; head < seen.layers[layer].front().values.size(); ++head) {
      Table table{.columns = {{"key"}}};
      for (const AttentionMap& map : seen.layers[layer]) table.columns.push_back({map.name, Align::right});
      for (Index key = 0; key < seen.keys(query); ++key) {
        table.rows.push_back({seen.place(key)});
        for (const AttentionMap& map : seen.layers[layer]) {
          table.rows.back().push_back(fmt::format("{:.3f}", map.values[head](query, key)));
        }
      }
      tables.emplace_back(fmt::format("layer {}, head {}, query {}", layer, head, seen.place(query)),
                          std::move(table));
    }
  }
  return tables;
}

/// One table of all layers and heads.
Table long_table(const Inspection& seen, Index query) {
  Table all{.columns = {{"layer"}, {"head"}, {"query"}, {"key"}, {"word"}}};
  for (const AttentionMap& map : seen.layers.front()) all.columns.push_back({map.name});
  for (size_t layer = 0; layer < seen.layers.size(); ++layer) {
    for (size_t head = 0; head < seen.layers[layer].front().values.size(); ++head) {
      for (Index key = 0; key < seen.keys(query); ++key) {
        all.rows.push_back({fmt::format("{}", layer), fmt::format("{}", head), fmt::format("{}", query),
                            fmt::format("{}", key), seen.words[static_cast<size_t>(key)]});
        for (const AttentionMap& map : seen.layers[layer]) {
          all.rows.back().push_back(fmt::format("{:.6g}", map.values[head](query, key)));
        }
      }
    }
  }
  return all;
}

std::vector<std::string> notes(const Inspection& seen) {
  std::vector<std::string> notes{fmt::format("{} on {}, seed {}, an example of {}", seen.id.encoding, seen.id.task,
                                             seen.id.seed, seen.split)};
  if (!seen.run.empty()) notes.push_back(seen.run);
  for (size_t n = 0; n < seen.scored.size(); ++n) {
    notes.push_back(fmt::format("at {}: the answer is {}, the model predicts {}", seen.place(seen.scored[n]),
                                seen.expected_words[n], seen.answer_words[n]));
  }
  notes.push_back(
      "score = q k / sqrt(D) + positional part; what enters with the embeddings or scales q k otherwise is in "
      "either");
  return notes;
}

Json to_json(const Inspection& seen) {
  Json json;
  json["task"] = seen.id.task;
  json["encoding"] = seen.id.encoding;
  json["seed"] = seen.id.seed;
  json["split"] = seen.split;
  json["words"] = seen.words;
  json["scored"] = seen.scored;
  json["expected"] = seen.expected_words;
  json["answered"] = seen.answer_words;
  json["maps"] = Json::array();
  for_each_map(seen, [&](size_t layer, size_t head, const std::string& name, const Matrix& values) {
    Json rows = Json::array();
    for (Index i = 0; i < seen.length(); ++i) {
      Json row = Json::array();
      for (Index j = 0; j < seen.keys(i); ++j) row.push_back(page_number(values(i, j)));
      rows.push_back(std::move(row));
    }
    json["maps"].push_back({{"layer", layer}, {"head", head}, {"name", name}, {"values", std::move(rows)}});
  });
  return json;
}

/// What the colours of a map reach from and to. Early queries have all their attention on few keys, so the
/// greatest hundredth of it is left out.
std::pair<double, double> color_range(const std::string& name, std::vector<double> values) {
  if (name == "gate") return {0, 1};
  std::sort(values.begin(), values.end());
  if (values.empty()) return {0, 1};
  const double low = name == "attention" ? 0 : values.front();
  const double high = name == "attention" ? values[(values.size() - 1) * 99 / 100] : values.back();
  return low < high ? std::pair(low, high) : std::pair(low - 0.5, low + 0.5);
}

Plot plot(const Inspection& seen, size_t layer, size_t head, const std::string& name, const Matrix& values) {
  Plot plot{.kind = "heat",
            .title = fmt::format("Layer {}, head {}: {}", layer, head, name),
            .columns = {{"row", "query"}, {"column", "key"}, {"value", name}}};
  std::vector<double> finite;
  for (Index i = 0; i < seen.length(); ++i) {
    for (Index j = 0; j < seen.keys(i); ++j) {
      if (std::isfinite(values(i, j))) finite.push_back(values(i, j));
      plot.rows.push_back({seen.place(i), seen.place(j), page_number(values(i, j))});
    }
  }
  const auto [low, high] = color_range(name, std::move(finite));
  if (name == "attention") plot.about = fmt::format("All from {:.2f} on has one colour.", high);
  plot.signals = {{"labels", false},
                  {"domain", {page_number(low), page_number(high)}},
                  {"x_title", "key"},
                  {"y_title", "query"}};
  return plot;
}

std::string page(const Inspection& seen) {
  if (seen.length() > kMaxTokens) {
    throw std::invalid_argument(
        fmt::format("the example has {} tokens, more than the {} of a page; choose another --example, --split or "
                    "--length, or --format json",
                    seen.length(), kMaxTokens));
  }
  Page page{.title = fmt::format("What {} learned", seen.id.encoding), .notes = notes(seen)};
  for (size_t layer = 0; layer < seen.layers.size(); ++layer) {
    for (size_t n = 0; n < seen.layers[layer].size(); ++n) {
      const AttentionMap& map = seen.layers[layer][n];
      Section section{fmt::format("Layer {}: {}", layer, map.name), "", {}};
      for (size_t head = 0; head < map.values.size(); ++head) {
        section.plots.push_back(plot(seen, layer, head, map.name, map.values[head]));
      }
      page.sections.push_back(std::move(section));
    }
  }
  return html(page);
}

std::string text(const Inspection& seen, Format format, Index query, const ConsoleStyle& style) {
  if (format == Format::html) return page(seen);
  if (format == Format::json) return pretty(to_json(seen));
  if (format == Format::csv) return csv(long_table(seen, query));
  std::string text;
  for (const auto& [caption, table] : tables(seen, query)) {
    text += format == Format::markdown ? fmt::format("{}\n\n{}\n", markdown_text(caption), markdown(table))
                                       : fmt::format("{}\n{}\n", printable(caption), console(table, style));
  }
  for (const std::string& note : notes(seen)) {
    text += (format == Format::markdown ? markdown_text(note) + "\n\n" : printable(note) + "\n");
  }
  return text;
}

/// Means over many samples.
void inspect_over(const InspectRequest& request) {
  const Overview seen = as_input([&] {
    const SavedModel saved = load_model(find(request));
    Overview overview = look_over(saved, request.split, request.length, *request.over);
    overview.run = how_far(request.run);
    return overview;
  });
  const Output& output = request.output;
  write(output, text(seen, format(output), console_style(output)));
}

/// Tells, for each layer and head, the positional part of the scores, the attention, and what the encoding itself
/// shows: console, markdown and csv of one query, json and html of all. Throws std::invalid_argument where the
/// model is missing or cannot be read, or what was requested is not there.
void inspect(const InspectRequest& request) {
  format(request.output);  // refuses what cannot be written before anything is computed
  if (request.over) return inspect_over(request);
  const Inspection seen = as_input([&] { return look(request); });
  const Index last = seen.scored.empty() ? seen.length() - 1 : seen.scored.back();
  const Index query = request.query.value_or(static_cast<int>(last));
  if (query >= seen.length()) {
    throw std::invalid_argument(
        fmt::format("--query is {}, expected a place from 0 to {}", query, seen.length() - 1));
  }
  const Output& output = request.output;
  write(output, text(seen, format(output), query, console_style(output)));
}

}  // namespace

void add_inspect(CLI::App& app, Invocation&) {
  const auto request = std::make_shared<InspectRequest>();
  CLI::App* command = app.add_subcommand(
      "inspect", "What a trained encoding learned: positional scores, attention, gates, biases");
  command->add_option("run", request->run, "a run directory of 'posbench run --save-models'")->required();
  command->add_option("task", request->task, "a task of the run, with options as there")->required();
  command->add_option("encoding", request->encoding, "an encoding of the run, with options as there")->required();
  command->add_option("-s,--seed", request->seed, "the seed of the experiment");
  command->add_option("--split", request->split, "the split whose examples are shown");
  command->add_option("--example", request->example, "the number of the example");
  command->add_option("--length", request->length, "the length of the example, in the task's unit")
      ->default_str("as drawn")
      ->check(CLI::Range(1, 100000));
  command->add_option("--query", request->query, "the query position that the tables show")
      ->default_str("the last scored one")
      ->check(CLI::Range(0, 1000000));
  command
      ->add_option("--over", request->over,
                   "means over the first N samples of the split instead of one example: attention and positional part by "
                   "distance, entropy, the right key, margins")
      ->default_str("one example")
      ->check(CLI::Range(1, 1000000))
      ->excludes("--example")
      ->excludes("--query");
  add_output(*command, request->output);
  command->footer(
      "Examples:\n"
      "  posbench inspect runs/mine flip_flop cope --seed 1\n"
      "  posbench inspect runs/mine flip_flop cope --split ood_sparse -o cope.html\n"
      "  posbench inspect runs/mine flip_flop cope --split ood_sparse --over 256 -o cope.html");
  command->callback([request] {
    inspect(*request);
  });
}

}  // namespace posbench
