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

#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/config/config.h"
#include "harness/console/command.h"
#include "harness/console/message.h"
#include "harness/console/output.h"
#include "harness/exchange/sample_set.h"
#include "harness/training/samples.h"
#include "results/document/wrap.h"
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
  bool json = false;
};

/// Returns how a run uses a stream.
std::string use_of(const StreamId& id) {
  if (id.purpose == Purpose::train)
    return "the samples that a run trains on, in this order, unless its settings change the lengths";
  if (id.purpose == Purpose::validation) return "the samples of validation during training";
  return fmt::format("the samples that a run tests on, split {}", id.split);
}

std::string sample_text(const Task& task, std::uint64_t number, const SampleStream::Sample& sample) {
  const auto& [example, length] = sample;
  const auto is_scored = [&scored = example.scored](size_t t) {
    return std::find(scored.begin(), scored.end(), static_cast<int>(t)) != scored.end();
  };
  std::vector<std::string> words, ids, answers;
  std::vector<int> answer_ids;
  for (size_t t = 0; t < example.tokens.size(); ++t) {
    const std::string mark = is_scored(t) ? "*" : "";
    words.push_back(task.token_text(example.tokens[t]) + mark);
    ids.push_back(fmt::format("{}{}", example.tokens[t], mark));
    if (!is_scored(t)) continue;
    answers.push_back(task.token_text(example.targets[t]));
    answer_ids.push_back(example.targets[t]);
  }
  std::string text = fmt::format("sample {}, length {}, {}; * marks scored tokens\n", number, length,
                                 counted(example.tokens.size(), "token"));
  const auto add = [&](const char* name, const std::string& value) {
    constexpr size_t kColumn = 11;
    text += fmt::format("  {:<9}{}\n", name, wrapped_lines(value, kColumn, list_width()));
  };
  add("words", fmt::format("{}", fmt::join(words, " ")));
  add("ids", fmt::format("{}", fmt::join(ids, " ")));
  add("answer", fmt::format("{}   (ids {})", fmt::join(answers, " "), fmt::join(answer_ids, " ")));
  if (!example.evidence.empty()) add("evidence", fmt::format("at {}", fmt::join(example.evidence, " ")));
  if (!example.distances.empty()) add("distance", fmt::format("{}", fmt::join(example.distances, " ")));
  return text;
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

/// Writes the name of the stream and then its samples, one by one: as text, or as one JSON object.
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
  if (request.json) {
    write_stdout(fmt::format(
        "{{\n\"task\": {},\n\"stream\": {},\n\"split\": {},\n\"seed\": {},\n\"first\": {},\n\"samples\": [\n",
        to_compact_json(request.task), to_compact_json(set.id.text()), to_compact_json(set.id.split), request.seed,
        request.first));
  } else {
    const std::string title =
        fmt::format("stream {} of {}, seed {}: {}", set.id.text(), request.task, request.seed, use_of(set.id));
    write_lines(wrapped_lines(title, 0, list_width()) + "\n");
  }
  for (int n = 0; n < request.count; ++n) {
    const std::uint64_t number = static_cast<std::uint64_t>(request.first) + n;
    const SampleStream::Sample sample = set.sample(number);
    if (request.json) {
      write_stdout(to_compact_json(sample_json(task, sample)) + (n + 1 < request.count ? ",\n" : "\n]\n}\n"));
    } else {
      write_lines(sample_text(task, number, sample));
    }
  }
}

}  // namespace

void add_sample(CommandLine& line) {
  const auto request = std::make_shared<SampleRequest>();
  Command& command = line.add(kExplore, "sample", "Print samples of a task as tokens and ids, as a run uses them");
  command.name("task", request->task, ValueKind::task, "task, with or without options").required();
  command.number("-n,--count", request->count, 1, 1000000, "number of samples");
  command.number("--first", request->first, 0, 1000000, "number of the first sample");
  command.name("--split,--stream", request->stream, ValueKind::split,
               "samples: train, validation, or a split for its test samples");
  command.number("--length", request->length, 1, 100000, "length of all samples, in the task's unit")
      .default_text("drawn by the task");
  command.seed("-s,--seed", request->seed, "seed of the experiment whose samples are printed");
  command.choice(
      "--layout", request->layout, names_of(request->layout).rows(),
      "layout of the answers: by the attention of the model, as inputs of a causal model, or as empty slots");
  command.flag("--json", request->json, "output as JSON");
  command.explain({{"posbench sample flip_flop -n 3 --split ood_sparse", "samples of a test split"},
                   {"posbench sample flip_flop --split train", "samples of training"},
                   {"posbench sample reverse_string --layout slots --json", ""}});
  command.run([request] { write_samples(*request); });
}

}  // namespace posbench
