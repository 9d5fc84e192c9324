#include "harness/training/task_setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <unordered_map>

#include "base/text.h"
#include "harness/training/samples.h"
#include "tasks/splits.h"

namespace posbench {
namespace {

/// T of the longest of some samples at the greatest length. It is the same for every seed and encoding.
int longest_sequence(const Task& task) {
  constexpr int kSamples = 256;
  size_t longest = 0;
  for (int n = 0; n < kSamples; ++n) {
    Rng rng = stream(0, "longest", n);
    longest = std::max(longest, task.sample(task.lengths().max(), rng).tokens.size());
  }
  return static_cast<int>(longest);
}

/// What a trivial predictor reads for each scored position of an example, as keys of its table.
using Keys = std::vector<std::uint64_t>;
using View = std::function<Keys(const Example&, int length)>;

std::uint64_t pair(int a, int b) { return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint32_t>(b); }

template <class F>
Keys for_each_scored(const Example& e, F key) {
  Keys keys;
  for (const int t : e.scored) keys.push_back(key(t));
  return keys;
}

const std::map<std::string, View>& views() {
  static const std::map<std::string, View> views{
      {"constant", [](const Example& e, int) { return Keys(e.scored.size()); }},
      {"last_token",
       [](const Example& e, int) {  // the token read there and the one before it, since the last may be a blank
         return for_each_scored(e, [&](int t) { return pair(e.tokens[t], t > 0 ? e.tokens[t - 1] : kIgnore); });
       }},
      {"position",
       [](const Example& e, int length) { return for_each_scored(e, [&](int t) { return pair(length, t); }); }},
      {"bag_of_tokens", [](const Example& e, int) {
         std::uint64_t bag = 0;
         int read = 0;
         return for_each_scored(e, [&](int t) {
           // a sum of hashes identifies a multiset
           while (read < t) bag += mix(static_cast<std::uint64_t>(e.tokens[read++]));
           return bag;
         });
       }}};
  return views;
}

double measure(const std::vector<SampleStream::Sample>& samples, const View& view) {
  using Counts = std::map<int, int>;
  std::unordered_map<std::uint64_t, Counts> answers;
  Counts overall;
  const size_t half = samples.size() / 2;
  const auto for_each_answer = [&](size_t first, size_t last, auto f) {
    for (size_t i = first; i < last; ++i) {
      const auto& [example, length] = samples[i];
      const Keys keys = view(example, length);
      for (size_t n = 0; n < keys.size(); ++n) f(keys[n], example.targets[example.scored[n]]);
    }
  };
  for_each_answer(0, half, [&](std::uint64_t key, int answer) { ++answers[key][answer], ++overall[answer]; });
  const auto most_frequent = [](const Counts& counts) {
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  };
  const int otherwise = overall.empty() ? kIgnore : most_frequent(overall);
  std::int64_t correct = 0, total = 0;
  for_each_answer(half, samples.size(), [&](std::uint64_t key, int answer) {
    const auto seen = answers.find(key);
    correct += answer == (seen == answers.end() ? otherwise : most_frequent(seen->second));
    ++total;
  });
  return total > 0 ? static_cast<double>(correct) / static_cast<double>(total) : 0;
}

/// The splits of the task, those of the user in their places or after them.
std::vector<TaskInfo::Split> chosen_splits(const TaskSetup& setup) {
  std::vector<TaskInfo::Split> splits = setup.info->splits;
  for (const TaskInfo::Split& split : setup.own_splits) {
    const auto same = std::find_if(splits.begin(), splits.end(),
                                   [&](const TaskInfo::Split& s) { return s.name == split.name; });
    if (split.options.empty()) {
      if (same == splits.end()) {
        throw std::invalid_argument(
            fmt::format("task '{}' has no split '{}' to leave out", setup.info->name, split.name));
      }
      splits.erase(same);
    } else if (same != splits.end()) {
      *same = split;
    } else {
      splits.push_back(split);
    }
  }
  return splits;
}

std::string prefixed(const std::string& prefix, const std::string& text) {
  return text.starts_with(prefix) ? text : prefix + text;
}

void refuse_training_distribution(const Spec& trained, const TaskInfo::Split& split) {
  if (kind(split) == SplitKind::in_distribution) return;
  const auto canonical = tasks().find(trained.name).canonical;
  Spec tested = trained;
  tested.options.insert(tested.options.end(), split.options.begin(), split.options.end());
  if (canonical(tested).text() != canonical(trained).text()) return;
  std::vector<std::string> values;
  for (const auto& [option, value] : split.options) values.push_back(option + "=" + value);
  throw std::invalid_argument(fmt::format(
      "split '{0}' of '{1}' is the training distribution itself ({2}); train on something else, or give the split "
      "other values, or leave it out, in a configuration: {{\"splits\": {{\"{1}\": {{\"{0}\": null}}}}}}",
      split.name, canonical(trained).text(), fmt::join(values, ", ")));
}

void check_extend(const ExtendOptions& extend) {
  if (extend.encodings.empty() && (extend.steps > 0 || !extend.length.empty())) {
    throw std::invalid_argument(fmt::format(
        "extend.{} is set, but extend.encodings is empty; name the encodings, as in --extend none, or leave it out",
        extend.steps > 0 ? "steps" : "length"));
  }
  if (extend.steps == 0 && !extend.length.empty()) {
    throw std::invalid_argument(
        fmt::format("extend.length is {}, the length of further training, but extend.steps is 0; set extend.steps, or "
                    "leave out extend.length",
                    extend.length));
  }
}

/// The task of further training. Null if its length is that of training.
std::unique_ptr<Task> make_extended(const Spec& spec, const ExtendOptions& extend, Layout layout, int vocabulary) {
  if (extend.length.empty()) return nullptr;
  try {
    const TaskInfo::Split split{"extend.length", {{"length", extend.length}}, ""};
    std::unique_ptr<Task> task = make_task(spec, resolved(spec, tasks().find(spec.name).options, split), layout);
    if (task->vocabulary() == vocabulary) return task;
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(prefixed("extend.length: ", error.what()));
  }
  throw std::invalid_argument(fmt::format(
      "extend.length {} changes the vocabulary of task '{}', which a trained model cannot follow", extend.length, spec.name));
}

}  // namespace

TaskSpec TaskSpec::parse(const std::string& text) {
  const Spec whole = Spec::parse(text);
  TaskSpec result;
  result.task.name = whole.name;
  const TaskEntry& entry = tasks().find(whole.name);
  ExperimentOptions options;
  for (const auto& [name, value] : whole.options) {
    if (name.find('.') == name.npos) {
      result.task.options.emplace_back(name, value);
    } else {
      options.set(name, value);
      result.settings.emplace_back(name, options.get(name));
    }
  }
  result.task = entry.canonical(result.task);
  std::sort(result.settings.begin(), result.settings.end());
  return result;
}

std::string TaskSpec::text() const {
  Spec whole = task;
  whole.options.insert(whole.options.end(), settings.begin(), settings.end());
  return whole.text();
}

TaskSetup make_task_setup(const ExperimentOptions& for_all, const std::string& text,
                          std::vector<TaskInfo::Split> own_splits) {
  const auto [spec, settings] = TaskSpec::parse(text);
  TaskSetup setup;
  setup.spec = text;
  setup.info = &tasks().find(spec.name).info;
  setup.options = for_all;
  for (const auto& [name, value] : settings) setup.options.set(name, value);
  setup.own_splits = std::move(own_splits);
  const ExperimentOptions& options = setup.options;
  const Layout layout = options.layout();
  if (setup.info->causal_only && layout == Layout::slots) {
    throw std::invalid_argument(fmt::format(
        "task '{}' has target positions inside its sequences, so it needs a causal model without answer slots; set "
        "model.attention to causal and evaluation.layout to by_attention, or leave the task out",
        spec.name));
  }
  if (options.model.attention == Attention::bidirectional && layout == Layout::teacher_forced) {
    throw std::invalid_argument(
        "evaluation.layout is teacher_forced, which shows a bidirectional model the answers; set it to slots");
  }
  const TrainingOptions& training = options.training;
  if (training.lengths == BatchLengths::same && training.samples % training.batch != 0) {
    throw std::invalid_argument(
        fmt::format("training.samples is {}, not a multiple of training.batch {}; with training.lengths=same a training "
                    "set consists of whole batches",
                    training.samples, training.batch));
  }
  check_extend(options.extend);
  setup.shape = options.model.shape();
  for (const TaskInfo::Split& raw : chosen_splits(setup)) {
    std::unique_ptr<Task> task;
    TaskInfo::Split split = raw;
    try {
      split = resolved(spec, tasks().find(spec.name).options, raw);
      task = make_task(spec, split, layout);
    } catch (const std::invalid_argument& error) {
      const bool own = std::any_of(setup.own_splits.begin(), setup.own_splits.end(),
                                   [&](const TaskInfo::Split& s) { return s.name == raw.name; });
      if (own || !is_relative(raw)) throw std::invalid_argument(prefixed("split '" + raw.name + "': ", error.what()));
      setup.left_out.push_back(prefixed("split '" + raw.name + "': ", error.what()));
      continue;
    }
    refuse_training_distribution(spec, split);
    setup.splits.push_back(split);
    setup.tasks.push_back(std::move(task));
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
  setup.extended = make_extended(spec, options.extend, layout, setup.shape.vocabulary);
  if (setup.extended) setup.shape.longest = std::max(setup.shape.longest, longest_sequence(*setup.extended));
  return setup;
}

SplitKind kind(const TaskInfo::Split& split) {
  return split.name == "in_distribution" ? SplitKind::in_distribution : SplitKind::out_of_distribution;
}

size_t find_split(const TaskSetup& task, const std::string& name) {
  std::vector<std::string> names;
  for (const TaskInfo::Split& split : task.splits) names.push_back(split.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  throw std::invalid_argument(fmt::format("task '{}' has no split '{}'{} (its splits: {})", task.spec, name,
                                          did_you_mean(name, names), fmt::join(names, ", ")));
}

TaskBaseline measure_baselines(const TaskSetup& setup, int count, const std::function<bool()>& go_on) {
  TaskBaseline baseline{setup.spec, setup.info->version, {}};
  for (size_t i = 0; i < setup.splits.size(); ++i) {
    const SampleStream samples{*setup.tasks[i], "baseline:" + setup.splits[i].name, 0};
    std::vector<SampleStream::Sample> drawn;
    for (int n = 0; n < count; ++n) {
      if (go_on && !go_on()) return baseline;
      drawn.push_back(samples(n));
    }
    SplitBaseline split{setup.splits[i].name, kind(setup.splits[i]), setup.tasks[i]->chance_level(), {}};
    split.entropy = setup.tasks[i]->entropy();
    split.options.emplace(setup.splits[i].options.begin(), setup.splits[i].options.end());
    for (const auto& [name, view] : views()) split.trivial[name] = measure(drawn, view);
    baseline.splits.push_back(std::move(split));
  }
  return baseline;
}

}  // namespace posbench
