// `posbench sample`: examples of a task, to read.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/console/output.h"
#include "harness/exchange/sample_set.h"
#include "harness/training/samples.h"
#include "results/document/document.h"
#include "results/json/json.h"
#include "tasks/task.h"

namespace posbench {
namespace {

struct SampleRequest {
  std::string task, stream = "in_distribution";  // train, validation, or a split for its test samples
  int first = 0, count = 3;
  std::optional<int> length;
  std::uint64_t seed = 0;
  AnswerLayout layout = AnswerLayout::by_attention;
  Output output;
};

/// Returns how a run uses a stream.
std::string use_of(const StreamId& id) {
  if (id.purpose == Purpose::train)
    return "the samples that a run trains on, in this order, unless its settings change the lengths";
  if (id.purpose == Purpose::validation) return "the samples of validation during training";
  return "the samples that a run tests on";
}

/// Adds a line about a sample, and its tokens and answers.
void describe_sample(const Task& task, std::uint64_t number, const SampleStream::Sample& sample,
                     Document& document) {
  const auto& [example, length] = sample;
  std::vector<std::string> words, ids, answers;
  std::vector<int> answer_ids;
  for (size_t t = 0; t < example.tokens.size(); ++t) {
    const bool is_scored = std::ranges::count(example.scored, static_cast<int>(t)) > 0;
    const char* mark = is_scored ? "*" : "";
    words.push_back(task.token_text(example.tokens[t]) + mark);
    ids.push_back(fmt::format("{}{}", example.tokens[t], mark));
    if (!is_scored) continue;
    answers.push_back(task.token_text(example.targets[t]));
    answer_ids.push_back(example.targets[t]);
  }
  document.blocks.emplace_back(Text{fmt::format("sample {}, length {}, {}; * marks scored tokens", number, length,
                                                counted(example.tokens.size(), "token"))});
  document.blocks.emplace_back(
      Facts{{{"words", fmt::format("{}", fmt::join(words, " "))},
             {"ids", fmt::format("{}", fmt::join(ids, " "))},
             {"answer", fmt::format("{} (ids {})", fmt::join(answers, " "), fmt::join(answer_ids, " "))},
             {"evidence", fmt::format("{}", fmt::join(example.evidence, " "))},
             {"distance", fmt::format("{}", fmt::join(example.distances, " "))}}});
}

Json sample_json(const Task& task, const SampleStream::Sample& sample) {
  const auto& [e, length] = sample;
  Json words = Json::array();
  for (const int token : e.tokens) words.push_back(task.token_text(token));
  return {{"length", length},
          {"tokens", e.tokens},
          {"words", words},
          {"targets", e.targets},
          {"scored", e.scored},
          {"distances", e.distances},
          {"segments", e.segments},
          {"candidates", e.candidates},
          {"evidence", e.evidence},
          {"digit_positions", e.digit_positions},
          {"coordinates", e.coordinates}};
}

void write_samples(const SampleRequest& request) {
  RunConfig config = make_config({});
  config.evaluation.layout = request.layout;
  const SampleSet set =
      make_sample_set(config, request.task, request.stream, request.seed, /*first=*/0, /*count=*/0);
  if (request.length && set.point) {
    throw InputError(
        fmt::format("--length is {}, and '{}' states the length of its samples; leave one of them out",
                    *request.length, set.id.grid));
  }
  if (request.length) set_length(*set.task, set.split, *request.length);
  const Task& task = set.made();
  Document document{.title = fmt::format("stream {} of {}, seed {}: {}", set.id.text(), request.task, request.seed,
                                         use_of(set.id))};
  const auto first = static_cast<std::uint64_t>(request.first), count = static_cast<std::uint64_t>(request.count);
  document.json = [&] {
    Json json{{"task", request.task}, {"stream", set.id.text()}, {"split", set.id.split},
              {"seed", request.seed}, {"first", request.first},  {"samples", Json::array()}};
    for (std::uint64_t n = first; n < first + count; ++n)
      json["samples"].push_back(sample_json(task, set.sample(n)));
    return json;
  };
  for (std::uint64_t n = first; n < first + count; ++n) describe_sample(task, n, set.sample(n), document);
  write_document(request.output, document);
}

}  // namespace

void add_sample(CommandLine& line) {
  const auto request = std::make_shared<SampleRequest>();
  Command& command = line.add(kExplore, "sample", "Print samples of a task as tokens and ids, as a run uses them");
  command.name("task", request->task, ValueKind::task, "task, with or without options").required();
  command.number("-n,--count", request->count, 1, 1000, "number of samples; 'export' writes more");
  command.number("--first", request->first, 0, 1000000, "number of the first sample");
  command.name("--split,--stream", request->stream, ValueKind::split,
               "samples: train, validation, or a split for its test samples");
  command.number("--length", request->length, 1, 100000, "length of all samples, in the task's unit")
      .default_text("drawn by the task");
  command.seed("-s,--seed", request->seed, "seed of the experiment whose samples are printed");
  command.choice(
      "--layout", request->layout, names_of(request->layout).rows(),
      "layout of the answers: by the attention of the model, as inputs of a causal model, or as empty slots");
  add_json(command, request->output, "output as JSON");
  command.explain({{"posbench sample flip_flop -n 3 --split ood_sparse", "samples of a test split"},
                   {"posbench sample flip_flop --split train", "samples of training"},
                   {"posbench sample reverse_string --layout slots --json", ""}});
  command.run([request] { write_samples(*request); });
}

}  // namespace posbench
