// `posbench export TASK`: the samples of a stream for models in other programs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/signals.h"
#include "base/text.h"
#include "harness/commands/export_forms.h"
#include "harness/console/output.h"
#include "harness/console/progress.h"
#include "harness/exchange/array_file.h"
#include "harness/exchange/sample_set.h"
#include "results/json/json.h"

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

}  // namespace

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

}  // namespace posbench
