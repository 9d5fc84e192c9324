// `posbench inspect` prints the scores and attention of a saved model, on one example or as means over many
// samples.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "encodings/registry.h"
#include "harness/analysis/head_report.h"
#include "harness/commands/commands.h"
#include "harness/commands/inspect_over.h"
#include "harness/commands/inspection.h"
#include "harness/config/user_files.h"
#include "harness/console/command.h"
#include "harness/console/message.h"
#include "harness/console/output.h"
#include "harness/exchange/sample_set.h"
#include "harness/exchange/saved_model.h"
#include "harness/runs/run_record.h"
#include "harness/training/evaluate.h"
#include "model/block.h"
#include "results/document/document.h"
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

Document inspect_over(const InspectRequest& request) {
  return make_head_document(
      read_user_files([&] { return measure_heads(load_requested(request), request.split, *request.over); }),
      unfinished_run_text(request.run));
}

/// Throws InputError if the model or a requested name does not exist.
void inspect(const InspectRequest& request) {
  output_format(request.output);  // rejects an invalid output before the computation
  write_document(request.output, request.over ? inspect_over(request) : inspect_one(request));
  write_path(request.output.file);
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
