// `posbench export`: samples, reference vectors and logits for other programs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/signals.h"
#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/commands/export_forms.h"
#include "harness/commands/forms.h"
#include "harness/console/known_names.h"
#include "harness/console/output.h"
#include "harness/console/progress.h"
#include "harness/exchange/array_file.h"
#include "harness/exchange/sample_set.h"

namespace posbench {
namespace {

std::string line_of(std::uint64_t index, const SampleStream::Sample& sample) {
  const Example& e = sample.example;
  Json json{{"index", index},
            {"length", sample.length},
            {"tokens", e.tokens},
            {"targets", e.targets},
            {"scored_positions", e.scored},
            {"segments", e.segments},
            {"digit_positions", e.digit_positions}};
  if (!e.coordinates.empty()) json["coordinates"] = e.coordinates;  // most tasks have none
  json["distances"] = e.distances;
  json["candidates"] = e.candidates;
  return to_compact_json(json) + '\n';
}

void write_lines(const SampleSet& set, const std::function<void(const std::string&)>& write) {
  constexpr size_t kPiece = 1 << 18;
  std::string text;
  for (std::uint64_t n = 0; n < set.count; ++n) {
    check_interrupted();
    text += line_of(set.first + n, set.sample(set.first + n));
    if (text.size() < kPiece) continue;
    write(text);
    text.clear();
  }
  write(text);
}

void write_jsonl(const SampleSet& set, const std::optional<std::filesystem::path>& output) {
  if (!output) return write_lines(set, write_stdout);
  OutputFile file(*output);
  write_lines(set, [&](const std::string& text) { file.write(text); });
  file.finish();
}

/// The largest numbers of values in a row.
struct Sizes {
  size_t tokens = 0, scored = 0, candidates = 0, digits = 0, coordinates = 0, distances = 0;
};

Sizes measure(const SampleSet& set) {
  Sizes sizes;
  for (std::uint64_t n = 0; n < set.count; ++n) {
    check_interrupted();
    const Example e = set.sample(set.first + n).example;
    sizes.tokens = std::max(sizes.tokens, e.tokens.size());
    sizes.scored = std::max(sizes.scored, e.scored.size());
    sizes.candidates = std::max(sizes.candidates, e.candidates.size());
    sizes.digits = std::max(sizes.digits, e.digit_positions.size());
    sizes.coordinates = std::max(sizes.coordinates, e.coordinates.size());
    sizes.distances = std::max(sizes.distances, e.distances.size());
  }
  return sizes;
}

/// Appends a row of `size` values, padded at its end.
void append_row(ArrayWriter& file, size_t array, const std::vector<int>& values, size_t size, int padding) {
  std::vector<std::int32_t> row(values.begin(), values.end());
  row.resize(size, padding);
  file.append(array, row);
}

/// Draws the samples twice: for the shapes of the arrays, which precede their values, and for the values.
void write_arrays(const SampleSet& set, const std::filesystem::path& output) {
  const Sizes sizes = measure(set);
  const auto N = static_cast<std::int64_t>(set.count), T = static_cast<std::int64_t>(sizes.tokens);
  const auto S = static_cast<std::int64_t>(sizes.scored);
  enum : size_t { kIndex, kLength, kTokens, kMask, kTargets, kScored, kSegments };
  std::vector<ArrayInfo> arrays{{"index", Scalar::int64, {N}},      {"length", Scalar::int32, {N}},
                                {"tokens", Scalar::int32, {N, T}},  {"mask", Scalar::boolean, {N, T}},
                                {"targets", Scalar::int32, {N, T}}, {"scored_positions", Scalar::int32, {N, S}},
                                {"segments", Scalar::int32, {N, T}}};
  const auto optional = [&](const char* name, size_t size) {
    if (size > 0) arrays.push_back({name, Scalar::int32, {N, static_cast<std::int64_t>(size)}});
    return arrays.size() - 1;
  };
  const size_t digits = optional("digit_positions", sizes.digits > 0 ? sizes.tokens : 0);
  const auto A = static_cast<std::int64_t>(sizes.coordinates);
  if (A > 0) arrays.push_back({"coordinates", Scalar::int32, {N, A, T}});
  const size_t coordinates = arrays.size() - 1;
  const size_t distances = optional("distances", sizes.distances > 0 ? sizes.scored : 0);
  const size_t candidates = optional("candidates", sizes.candidates);
  ArrayWriter file(output, arrays, {{"manifest", to_compact_json(manifest(set))}});
  for (std::uint64_t n = 0; n < set.count; ++n) {
    check_interrupted();
    const std::uint64_t index = set.first + n;
    const auto [e, length] = set.sample(index);
    file.append(kIndex, std::vector<std::int64_t>{static_cast<std::int64_t>(index)});
    file.append(kLength, std::vector<std::int32_t>{length});
    append_row(file, kTokens, e.tokens, sizes.tokens, 0);
    std::vector<char> mask(sizes.tokens, 0);
    std::fill_n(mask.begin(), e.tokens.size(), 1);
    file.append(kMask, mask);
    append_row(file, kTargets, e.targets, sizes.tokens, kIgnore);
    append_row(file, kScored, e.scored, sizes.scored, kIgnore);
    append_row(file, kSegments, e.segments, sizes.tokens, 0);
    if (sizes.digits > 0) append_row(file, digits, e.digit_positions, sizes.tokens, 0);
    for (const std::vector<int>& values : e.coordinates) append_row(file, coordinates, values, sizes.tokens, 0);
    if (sizes.distances > 0) append_row(file, distances, e.distances, sizes.scored, kIgnore);
    if (sizes.candidates > 0) append_row(file, candidates, e.candidates, sizes.candidates, kIgnore);
  }
  file.finish();
}

SampleFormat format_of(const ExportRequest& request) {
  if (request.format) return *request.format;
  if (!request.output || lower_case(request.output->extension().string()) == ".jsonl") return SampleFormat::jsonl;
  if (is_array_file(*request.output)) return SampleFormat::safetensors;
  throw InputError(fmt::format("'{}' does not end in .jsonl or .safetensors; use one of these, or add --format",
                               request.output->string()));
}

/// Writes samples of a task and their manifest. Returns the exit code.
int export_samples(ExportRequest request) {
  const SampleFormat format = format_of(request);
  for (const std::optional<std::filesystem::path>& file : {request.output, request.manifest})
    if (file) check_output_place(*file);
  if (format != SampleFormat::jsonl && !request.output) {
    throw InputError("safetensors cannot be written to standard output; add -o FILE");
  }
  if (!request.manifest && request.output && !is_special(*request.output))
    request.manifest = default_manifest(*request.output);
  const SampleSet set =
      make_sample_set(make_config(request.config), request.subject, request.split.value_or("train"), request.seed,
                      request.first, request.count.value_or(1000));
  if (set.id.split == kShift) {
    throw InputError(fmt::format(
        "task '{}': split '{}' changes the positions of samples, which their file does not have; take '{}'",
        set.task->spec, kShift, kInDistribution));
  }
  const bool written = write_interruptibly(request.output, [&] {
    const Progress status("drawing samples");
    if (format == SampleFormat::jsonl) return write_jsonl(set, request.output);
    write_arrays(set, *request.output);
  });
  if (!written) return 130;
  if (request.manifest) write_file(*request.manifest, to_file_json(manifest(set)));
  return 0;
}

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
