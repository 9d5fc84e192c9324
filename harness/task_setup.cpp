#include "harness/task_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>

#include "harness/samples.h"

namespace posbench {
namespace {

/// T of the longest of some samples at the greatest length: the same for every seed and encoding.
int longest_sequence(const Task& task) {
  constexpr int kSamples = 256;
  size_t longest = 0;
  for (int n = 0; n < kSamples; ++n) {
    Rng rng = stream(0, "longest", n);
    longest = std::max(longest, task.sample(task.lengths().max(), rng).tokens.size());
  }
  return static_cast<int>(longest);
}

/// What a trivial predictor looks at, for scored place n of an example, as a key of its table.
using View = std::function<std::string(const Example&, int length, size_t n)>;

const std::map<std::string, View>& views() {
  static const std::map<std::string, View> views{
      {"constant", [](const Example&, int, size_t) { return std::string(); }},
      {"last_token",
       [](const Example& e, int, size_t n) {
         const int t =
             e.scored[n];  // the token read there, and the one before it, which a blank or marker may follow
         return fmt::format("{} {}", e.tokens[t], t > 0 ? e.tokens[t - 1] : kIgnore);
       }},
      {"position",
       [](const Example& e, int length, size_t n) { return fmt::format("{} {}", length, e.scored[n]); }},
      {"bag_of_tokens", [](const Example& e, int, size_t n) {
         std::vector<int> tokens(e.tokens.begin(), e.tokens.begin() + e.scored[n]);
         std::sort(tokens.begin(), tokens.end());
         std::string bag;
         for (const int token : tokens)
           bag += static_cast<char>(token % 256), bag += static_cast<char>(token / 256);
         return bag;
       }}};
  return views;
}

double measure(const std::vector<SampleStream::Sample>& samples, const View& view) {
  std::map<std::string, std::map<int, int>> answers;
  std::map<int, int> overall;
  const auto most_frequent = [](const std::map<int, int>& counts) {
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  };
  const size_t half = samples.size() / 2;
  const auto for_each_answer = [&](size_t first, size_t last, auto f) {
    for (size_t i = first; i < last; ++i) {
      const auto& [example, length] = samples[i];
      for (size_t n = 0; n < example.scored.size(); ++n)
        f(view(example, length, n), example.targets[example.scored[n]]);
    }
  };
  for_each_answer(0, half, [&](const std::string& key, int answer) { ++answers[key][answer], ++overall[answer]; });
  std::int64_t correct = 0, total = 0;
  for_each_answer(half, samples.size(), [&](const std::string& key, int answer) {
    const auto seen = answers.find(key);
    correct += answer == most_frequent(seen == answers.end() ? overall : seen->second);
    ++total;
  });
  return total > 0 ? static_cast<double>(correct) / static_cast<double>(total) : 0;
}

}  // namespace

TaskSetup make_task_setup(const Config& config, const std::string& text) {
  const Spec spec = Spec::parse(text);
  TaskSetup setup;
  setup.spec = text;
  setup.info = &tasks().find(spec.name).info;
  setup.config = config.for_task(spec.name);
  const Layout layout = setup.config.layout();
  if (setup.info->causal_only && layout == Layout::slots) {
    throw std::invalid_argument(fmt::format(
        "task '{}' asks inside its sequences, which a bidirectional model or answer slots would give away; set "
        "model.attention to causal and evaluation.layout to by_attention, or leave the task out",
        spec.name));
  }
  if (setup.config.model.attention == Attention::bidirectional && layout == Layout::fed_back) {
    throw std::invalid_argument(
        "evaluation.layout is fed_back, which shows a bidirectional model the answers; set it to slots");
  }
  setup.splits = setup.info->splits;
  const auto more = config.splits.find(spec.name);
  if (more != config.splits.end())
    setup.splits.insert(setup.splits.end(), more->second.begin(), more->second.end());

  setup.shape = setup.config.model.shape();
  for (const TaskInfo::Split& split : setup.splits) {
    setup.tasks.push_back(make_task(spec, split, layout));
    const int longest = longest_sequence(*setup.tasks.back());
    if (setup.tasks.size() == 1) setup.shape.trained_length = longest;
    setup.shape.longest = std::max(setup.shape.longest, longest);
    if (setup.tasks.back()->vocabulary() != setup.trained().vocabulary()) {
      throw std::invalid_argument(
          fmt::format("task '{}': split '{}' changes the vocabulary, which a trained model cannot follow",
                      spec.name, split.name));
    }
  }
  setup.shape.vocabulary = setup.trained().vocabulary();
  return setup;
}

SplitKind kind(const TaskInfo::Split& split) {
  return split.name == "in_distribution" ? SplitKind::in_distribution : SplitKind::out_of_distribution;
}

TaskBaseline measure_baselines(const TaskSetup& setup, int count) {
  TaskBaseline baseline{setup.spec, setup.info->version, {}};
  for (size_t i = 0; i < setup.splits.size(); ++i) {
    const SampleStream samples{*setup.tasks[i], "baseline:" + setup.splits[i].name, 0};
    std::vector<SampleStream::Sample> drawn;
    for (int n = 0; n < count; ++n) drawn.push_back(samples(n));
    SplitBaseline split{setup.splits[i].name, kind(setup.splits[i]), setup.tasks[i]->chance_level(), {}};
    for (const auto& [name, view] : views()) split.trivial[name] = measure(drawn, view);
    baseline.splits.push_back(std::move(split));
  }
  return baseline;
}

}  // namespace posbench
