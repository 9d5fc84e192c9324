#include "harness/training/baselines.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "harness/training/fingerprint.h"

namespace posbench {
namespace {

/// The keys under which a trivial predictor looks up its answers: one for each scored position of an example.
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
       [](const Example& e, int) {  // two tokens, since the last one may be a blank
         return for_each_scored(e, [&](int t) { return pair(e.tokens[t], t > 0 ? e.tokens[t - 1] : kIgnore); });
       }},
      {"position",
       [](const Example& e, int length) { return for_each_scored(e, [&](int t) { return pair(length, t); }); }},
      {"bag_of_tokens", [](const Example& e, int) {
         std::uint64_t bag = 0;
         int read = 0;
         return for_each_scored(e, [&](int t) {
           // A sum of hashes identifies a multiset.
           while (read < t) bag += hash64(static_cast<std::uint64_t>(e.tokens[read++]));
           return bag;
         });
       }}};
  return views;
}

/// Returns the accuracy of the predictor on the second half of the samples.
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

/// Returns the fingerprints of the first training samples of seed 0, as a run draws them.
std::unordered_set<std::uint64_t> fingerprints_of_training(const TaskSetup& setup, int count,
                                                           const std::stop_token& stop) {
  const TrainingOptions& training = setup.options.training;
  SampleStream samples = setup.stream({Purpose::train});
  std::unordered_set<std::uint64_t> all;
  for (int n = 0; n < count && !stop.stop_requested(); ++n) {
    if (training.lengths == BatchLengths::same)
      samples.length = length_of_batch(samples, static_cast<std::uint64_t>(n / training.batch), training.batch);
    all.insert(fingerprint(samples(static_cast<std::uint64_t>(n)).example));
  }
  return all;
}

/// Returns the fraction of the samples that training has shown. After a short training it looks up fewer of them,
/// because all would take long in comparison.
double fraction_seen(std::span<const SampleStream::Sample> samples,
                     const std::unordered_set<std::uint64_t>& trained, int training_samples) {
  constexpr int kFewest = 500;
  const auto count = static_cast<size_t>(std::max(kFewest, training_samples / kTrainingSamplesPerSample));
  samples = samples.first(std::min(samples.size(), count));
  const auto seen = std::ranges::count_if(
      samples, [&](const SampleStream::Sample& s) { return trained.contains(fingerprint(s.example)); });
  return static_cast<double>(seen) / static_cast<double>(samples.size());
}

constexpr int kReservedSamples = 300;  // each takes about ten draws

/// Returns samples as tests draw them.
std::vector<SampleStream::Sample> draw_reserved(const TaskSetup& setup, const SampleStream& all, int count,
                                                const std::stop_token& stop) {
  SampleStream samples = all;
  samples.reserve = setup.reserve.get();
  std::vector<SampleStream::Sample> drawn;
  for (int n = 0; n < count && !stop.stop_requested(); ++n)
    drawn.push_back(samples(static_cast<std::uint64_t>(n)));
  return drawn;
}

}  // namespace

int num_training_samples(const TrainingOptions& training, int limit) {
  const std::int64_t drawn = static_cast<std::int64_t>(training.steps) * training.batch;
  const std::int64_t distinct = training.samples > 0 ? training.samples : drawn;
  return static_cast<int>(std::min({drawn, distinct, static_cast<std::int64_t>(limit)}));
}

TaskBaseline measure_baselines(const TaskSetup& setup, int count, const std::stop_token& stop) {
  TaskBaseline baseline{setup.spec, setup.info->version, {}};
  const int trained_on = num_training_samples(setup.options.training, kTrainingSamplesPerSample * count);
  baseline.training_samples = trained_on;
  const std::unordered_set<std::uint64_t> trained = fingerprints_of_training(setup, trained_on, stop);
  for (size_t i = 0; i < setup.splits.size(); ++i) {
    const SampleStream samples(*setup.tasks[i], "baseline:" + setup.splits[i].name, 0);
    std::vector<SampleStream::Sample> drawn;
    for (int n = 0; n < count; ++n) {
      if (stop.stop_requested()) return baseline;
      drawn.push_back(samples(n));
    }
    SplitBaseline split{setup.splits[i].name, kind(setup.splits[i]), setup.tasks[i]->chance_level(), {}};
    split.entropy = setup.tasks[i]->entropy();
    split.options.emplace(setup.splits[i].options.begin(), setup.splits[i].options.end());
    for (const auto& [name, view] : views()) split.trivial[name] = measure(drawn, view);
    if (setup.reserve) {
      drawn = draw_reserved(setup, samples, std::min(count, kReservedSamples), stop);
      split.exempt_lengths = setup.reserve->exempt_lengths(*setup.tasks[i]);
    }
    if (stop.stop_requested()) return baseline;
    split.seen_in_training = fraction_seen(drawn, trained, trained_on);
    baseline.splits.push_back(std::move(split));
  }
  return baseline;
}

}  // namespace posbench
