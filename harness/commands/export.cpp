// `posbench export`: samples, reference vectors and logits for other programs.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/commands/export_forms.h"
#include "harness/commands/forms.h"
#include "harness/console/command.h"
#include "harness/console/known_names.h"
#include "harness/console/output.h"
#include "harness/exchange/sample_set.h"

namespace posbench {
namespace {

/// Returns the forms of a task, of an encoding and of a run.
const std::vector<Form>& export_forms() {
  static const std::vector<Form> forms{
      {"posbench export TASK",
       {"--split", "--first", "--count", "--format", "--manifest", "--profile", "--config", "--set"}},
      {"posbench export ENCODING", vector_options()},
      {"posbench export RUN TASK ENCODING",
       {"--split", "--first", "--count", "--initial", "--maps", "--model-output"}}};
  return forms;
}

/// Writes what the first argument names. Throws InputError for options of another form.
int export_subject(const ExportRequest& request, const Command& command) {
  const Subject subject = subject_of(request.subject);
  if (subject == Subject::unknown) {
    throw InputError(fmt::format("'{}' is no task, no encoding and no run{} (the forms are {})", request.subject,
                                 did_you_mean(request.subject, known_names(ValueKind::subject)),
                                 usages(export_forms())));
  }
  const Form& form = export_forms()[subject == Subject::task ? 0 : subject == Subject::encoding ? 1 : 2];
  if (subject == Subject::path ? request.encoding.empty() : !request.task.empty())
    throw InputError(
        fmt::format("the arguments do not fit '{}' (the forms are {})", form.usage, usages(export_forms())));
  check_options(command, export_forms(), form);
  if (subject == Subject::task) return export_samples(request);
  if (subject == Subject::path) return export_logits(request);
  export_vectors(request);
  return 0;
}

/// Adds the options of samples and logits.
void add_sample_options(Command& command, ExportRequest& request) {
  command
      .name("--split,--purpose", request.split, ValueKind::split,
            "samples: train, validation, or a split for its test samples; of logits a split")
      .default_text("train; of logits in_distribution");
  command.number("--first", request.first, std::int64_t{0}, kMaxSampleNumber, "number of the first sample");
  command.number("-n,--count", request.count, std::int64_t{1}, kMaxSampleNumber, "number of samples")
      .default_text("1000; of logits 512");
  command
      .choice<std::optional<SampleFormat>, SampleFormat>(
          "--format", request.format, {{"jsonl", SampleFormat::jsonl}, {"safetensors", SampleFormat::safetensors}},
          "format of samples")
      .default_text("that of the file's extension, or jsonl");
  command.file("--manifest", request.manifest, "file for the description of samples")
      .default_text("FILE.manifest.json, or none for a pipe or a device")
      .output();
  add_configuration(command, request.config);
}

void add_model_options(Command& command, ExportRequest& request) {
  command.flag("--initial", request.initial, "use the model of a run before training instead of the saved one");
  command.flag(
      "--maps", request.maps,
      "write the scores and the attention weights of every layer and head of a model too, of the last loop");
  command.file("--model-output", request.model_output, ".safetensors file for the model")
      .default_text("none")
      .output();
}

}  // namespace

void add_export(CommandLine& line) {
  const auto request = std::make_shared<ExportRequest>();
  Command& command =
      line.add(kExchange, "export",
               "Write samples of a task, reference vectors of an encoding, or logits of a saved model");
  command
      .name("subject", request->subject, ValueKind::subject,
            "task; encoding; or run directory of 'posbench run --save-models', saved model, or with --initial a "
            "configuration")
      .required();
  command.name("task", request->task, ValueKind::task, "task of a run, with its options");
  command.name("encoding", request->encoding, ValueKind::encoding, "encoding of a run, with its options");
  command.seed("-s,--seed", request->seed, "seed of the experiment, or of the inputs and parameters of vectors");
  command
      .file(
          "-o,--output", request->output,
          "output file: .jsonl or .safetensors for samples, .json or .safetensors for vectors, .safetensors for the "
          "logits at the scored positions")
      .default_text("standard output, for samples and vectors as text")
      .output();
  add_sample_options(command, *request);
  add_vector_options(command, request->vectors);
  add_model_options(command, *request);
  command.explain(
      {{"posbench export flip_flop -o train.safetensors", "samples of training"},
       {"posbench export flip_flop:length=32 -n 2", "two samples to read"},
       {"posbench export flip_flop --split ood_sparse -n 512 -o sparse.safetensors", ""},
       {"posbench export rope:pairing=half_split -o rope.safetensors", "vectors for a unit test"},
       {"posbench export alibi --heads 12 --arrays distances,bias", "as JSON, to read"},
       {"posbench export runs/mine flip_flop cope -o logits.safetensors", "answers, as 'score' reads them"},
       {"posbench export runs/mine flip_flop cope --initial --model-output initial.safetensors", ""}},
      {"Samples are those that a run uses. Vectors are the values of one attention layer in double precision. "
       "docs/bridge.md specifies the formats, and docs/golden.md explains the arrays of vectors."});
  command.run([request, &command] { return export_subject(*request, command); });
}

}  // namespace posbench
