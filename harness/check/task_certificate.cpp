#include "harness/check/task_certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "harness/check/oracles.h"
#include "harness/check/sample_checks.h"
#include "harness/check/shortcut_probe.h"
#include "harness/training/baselines.h"
#include "harness/training/fingerprint.h"
#include "harness/training/samples.h"
#include "harness/training/task_setup.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

constexpr int kSamples = 10000;  // of each split and layout
constexpr int kTrainingSamples = 20000;
constexpr int kRepeatEvery = 10;  // one sample in this many is drawn a second time, and its evidence is replaced
constexpr size_t kCoveredLengths = 500;  // up to this number of lengths, all are drawn in kSamples samples
/// The tolerance of a measurement in standard errors. Chance exceeds it about once in 100 000 times.
constexpr double kTolerance = 4.5;
constexpr double kRounding = 1e-9;  // of fractions that are computed in two ways

Tokens scored_targets(const Example& e) {
  Tokens answers;
  for (const int t : e.scored) answers.push_back(e.targets[t]);
  return answers;
}

std::string word(const Task& task, int token) {
  const bool is_word = token >= 0 && token < task.vocabulary();
  return is_word ? fmt::format("'{}'", task.token_text(token)) : fmt::format("the id {}", token);
}

/// Returns the first difference between the answers of the oracle and of the generator, or "".
std::string difference(const Task& task, const Tokens& of_oracle, const Tokens& of_generator) {
  if (of_oracle.size() != of_generator.size())
    return fmt::format("the oracle has {} answers and the generator {}", of_oracle.size(), of_generator.size());
  const auto [oracle, generator] = std::ranges::mismatch(of_oracle, of_generator);
  if (oracle == of_oracle.end()) return "";
  return fmt::format("answer {} of {} is {} by the oracle and {} by the generator", oracle - of_oracle.begin() + 1,
                     of_oracle.size(), word(task, *oracle), word(task, *generator));
}

/// An upper bound of an accuracy, as a registration declares it or by chance.
struct Bound {
  double value = 0;
  bool is_declared = false;

  std::string text() const { return fmt::format("{} {:.3f}", is_declared ? "the declared" : "chance,", value); }
};

/// Counts how often each answer occurs, with the standard error of the fraction of the most frequent one.
class AnswerFractions {
 public:
  void add(const Tokens& answers) {
    for (const int answer : answers) ++counts_[answer];
    samples_.push_back(answers);
  }
  double largest() const { return static_cast<double>(most_frequent().second) / answers(); }
  /// The samples are clusters, since answers within a sample are dependent.
  double error() const {
    const auto [answer, count] = most_frequent();
    double squares = 0;
    for (const Tokens& sample : samples_) {
      const double in_sample = static_cast<double>(std::count(sample.begin(), sample.end(), answer));
      squares += std::pow(in_sample - largest() * static_cast<double>(sample.size()), 2);
    }
    return std::sqrt(squares) / answers();
  }

 private:
  std::pair<int, int> most_frequent() const {
    return *std::max_element(counts_.begin(), counts_.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
  }
  double answers() const {
    double total = 0;
    for (const auto& [answer, count] : counts_) total += count;
    return total;
  }

  std::map<int, int> counts_;
  std::vector<Tokens> samples_;
};

int recurrences(const std::unordered_set<std::uint64_t>& trained, const SampleStream& samples) {
  int seen = 0;
  for (int n = 0; n < kSamples; ++n) seen += trained.contains(fingerprint(samples(n).example));
  return seen;
}

/// Returns the accuracy of a uniform guess among the candidates of each sample, or else among the answers that
/// occur at the same place in samples with as many tokens; and its standard error.
std::pair<double, double> uniform_guess(const std::vector<Example>& examples) {
  std::map<std::pair<size_t, size_t>, std::set<int>> answers;  // by the number of tokens and the place
  for (const Example& e : examples)
    for (size_t n = 0; n < e.scored.size(); ++n) answers[{e.tokens.size(), n}].insert(e.targets[e.scored[n]]);
  std::vector<std::pair<double, double>> samples;  // the expected number of right guesses, of all guesses
  double right = 0, all = 0;
  for (const Example& e : examples) {
    double expected = 0;
    for (size_t n = 0; n < e.scored.size(); ++n) {
      const size_t choices = e.candidates.empty() ? answers[{e.tokens.size(), n}].size() : e.candidates.size();
      expected += 1.0 / static_cast<double>(choices);
    }
    samples.emplace_back(expected, static_cast<double>(e.scored.size()));
    right += samples.back().first;
    all += samples.back().second;
  }
  double squares = 0;
  for (const auto& [expected, guesses] : samples) squares += std::pow(expected - right / all * guesses, 2);
  return {right / all, std::sqrt(squares) / all};
}

class TaskCheck {
 public:
  explicit TaskCheck(const std::string& text)
      : spec_(Spec::parse(text)),
        setup_(make_task_setup(ExperimentOptions{}, text)),
        canonical_(tasks().find(spec_.name).canonical(spec_)) {
    if (spec_.options.empty()) faults_ = setup_.skipped_splits;  // options may make a split impossible
    if (std::string message = check_learnability(*setup_.info); !message.empty())
      faults_.push_back(std::move(message));
    const auto row = oracles().find(spec_.name);
    if (row == oracles().end()) {
      faults_.push_back(
          fmt::format("no oracle is registered; add to harness/check/oracles/FAMILY.cpp, or to the plug-in: "
                      "const RegisterOracle {0}(\"{0}\", [](const Example& e) {{ return ...; }});",
                      spec_.name));
    } else if (row->second.is_valid(canonical_, *setup_.info)) {
      oracle_ = &row->second;
    }
  }

  TaskCertificate measure() {
    TaskCertificate certificate{
        .task = setup_.spec, .samples = kSamples, .oracle = oracle_ != nullptr, .layouts = {"teacher_forced"}};
    if (!setup_.info->causal_only) certificate.layouts.push_back("slots");
    const std::unordered_set<std::uint64_t> trained = training_fingerprints(setup_.stream({Purpose::train}));
    const TaskBaseline baseline = measure_baselines(setup_);
    for (size_t i = 0; i < setup_.splits.size(); ++i) {
      const TaskInfo::Split& split = setup_.splits[i];
      const Task& task = *setup_.tasks[i];
      SplitCertificate& found = certificate.splits.emplace_back();
      found.baseline = baseline.splits[i];
      found.lengths = task.lengths().values().size();
      check_samples(split, Layout::teacher_forced, &found);
      if (!setup_.info->causal_only) check_samples(split, Layout::slots, nullptr);
      check_recurrence(split, task, trained, found);
      for (size_t other = 0; other < i; ++other) {
        if (have_same_samples(task, *setup_.tasks[other]))
          add_fault(split, "the samples are those of split {}", setup_.splits[other].name);
      }
    }
    certificate.faults = faults_;
    return certificate;
  }

 private:
  template <class... Args>
  void add_fault(const TaskInfo::Split& split, fmt::format_string<Args...> format, Args&&... args) {
    faults_.push_back(fmt::format("split {}: {}", split.name, fmt::format(format, std::forward<Args>(args)...)));
  }

  /// Checks the samples one by one, and together. The statistics of teacher-forced samples are written.
  void check_samples(const TaskInfo::Split& split, Layout layout, SplitCertificate* found) {
    const std::unique_ptr<Task> task = make_task(spec_, split, layout);
    const SampleStream samples(*task, StreamId{Purpose::test, split.name});
    std::vector<Example> drawn;
    std::set<int> lengths;
    int other_answer = kIgnore;
    for (int n = 0; n < kSamples; ++n) {
      auto [e, length] = samples(n);
      if (n % kRepeatEvery == 0 && fingerprint(samples(n).example) != fingerprint(e))
        return add_fault(split, "the same seed gives a different sample {}", n);
      const std::string wrong = check_sample(e, *task, n, other_answer);
      if (!wrong.empty()) {
        const bool can_be_shown = validate(e, setup_.model_config.vocabulary, task->answers()).empty();
        const std::string command =
            fmt::format("; 'posbench sample {} --split {}{} --first {} -n 1' shows it", for_shell(spec_.text()),
                        split.name, layout == Layout::slots ? " --layout slots" : "", n);
        return add_fault(split, "{} (sample {}, length {}{})", wrong, n, length, can_be_shown ? command : "");
      }
      other_answer = e.targets[e.scored.front()];
      lengths.insert(length);
      drawn.push_back(std::move(e));
    }
    if (found != nullptr) {
      check_fractions(split, *task, drawn, *found);
      check_lengths(split, *task, lengths);
    }
    check_shortcuts(split, *task, layout, drawn, found);
  }

  /// Returns a message if the example is wrong, or if the oracle of a user fails, or "". `other_answer`: of
  /// another example.
  std::string check_sample(const Example& e, const Task& task, int n, int other_answer) const {
    try {
      return find_fault(e, task, n, other_answer);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      return fmt::format("checking it fails: {}", error.what());
    }
  }

  std::string find_fault(const Example& e, const Task& task, int n, int other_answer) const {
    if (e.scored.empty()) return "no position is scored";
    if (std::string wrong = validate(e, setup_.model_config.vocabulary, task.answers()); !wrong.empty())
      return wrong;
    if (static_cast<int>(e.coordinates.size()) != setup_.model_config.coordinates)
      return fmt::format("the number of coordinates is {}, and {} in training", e.coordinates.size(),
                         setup_.model_config.coordinates);
    if (oracle_ != nullptr) {
      if (std::string wrong = difference(task, (*oracle_)(e), scored_targets(e)); !wrong.empty()) return wrong;
    }
    const Oracle* asked = n % kRepeatEvery == 0 && other_answer != kIgnore ? oracle_ : nullptr;
    std::string wrong = check_evidence(e, other_answer, static_cast<size_t>(n / kRepeatEvery), asked);
    return wrong.empty() ? check_distances(e, *setup_.info, oracle_) : wrong;
  }

  Bound largest_answer_fraction(const Task& task) const {
    if (const double declared = setup_.info->largest_answer_fraction; declared > 0) return {declared, true};
    return {task.chance_level(), false};
  }

  void check_fractions(const TaskInfo::Split& split, const Task& task, const std::vector<Example>& examples,
                       SplitCertificate& found) {
    AnswerFractions fractions;
    for (const Example& e : examples) fractions.add(scored_targets(e));
    const double largest = fractions.largest();
    const Bound bound = largest_answer_fraction(task);
    found.largest_answer_fraction = {largest, bound.value};
    if (canonical_.options.empty() && largest > bound.value + kTolerance * fractions.error())
      add_fault(split, "the fraction of one answer is {:.3f}, more than {}", largest, bound.text());
    if (const auto [uniform, error] = uniform_guess(examples);
        task.chance_level() > uniform + kTolerance * error + kRounding)
      add_fault(
          split,
          "chance_level() is {:.3f}, but a uniform guess among the answers that occur gets {:.3f}; lower it, or "
          "state Example::candidates",
          task.chance_level(), uniform);
  }

  /// Checks that all lengths were drawn and that each makes a difference. With other options than the defaults, a
  /// task may draw its lengths itself.
  void check_lengths(const TaskInfo::Split& split, const Task& task, const std::set<int>& drawn) {
    const std::vector<int>& declared = task.lengths().values();
    const auto is_declared = [&](int length) { return std::ranges::find(declared, length) != declared.end(); };
    if (const auto other = std::ranges::find_if_not(drawn, is_declared); other != drawn.end())
      return add_fault(split, "the length {} of a sample is not one of the task's lengths", *other);
    if (!canonical_.options.empty() || declared.size() > kCoveredLengths) return;
    for (const int length : declared) {
      if (!drawn.contains(length)) return add_fault(split, "the length {} was never drawn", length);
    }
    if (const std::string wrong = check_lengths_differ(task); !wrong.empty()) add_fault(split, "{}", wrong);
  }

  /// Compares the predictors that read one feature with the declared bounds.
  void check_shortcuts(const TaskInfo::Split& split, const Task& task, Layout layout,
                       const std::vector<Example>& examples, SplitCertificate* found) {
    const Shortcuts& declared = setup_.info->shortcuts;
    const std::map<std::string, double> bounds{{"token", declared.token},
                                               {"neighbor", declared.neighbor},
                                               {"count", declared.count},
                                               {"position", declared.position}};
    for (const auto& [kind, measured] : measure_shortcuts(examples, task, layout)) {
      const Bound other = largest_answer_fraction(task);
      const Bound bound = bounds.at(kind) > 0
                              ? Bound{bounds.at(kind), true}
                              : std::ranges::max(other, Bound{task.chance_level(), false}, {}, &Bound::value);
      if (found != nullptr)
        found->shortcuts.push_back({kind, measured.feature, {measured.accuracy(), bound.value}});
      if (!canonical_.options.empty() || measured.at_least <= bound.value) continue;
      add_fault(
          split,
          "{} predicts {:.3f} of {} answers{}, more than {}; remove what it tells, or state Example::evidence or "
          "TaskInfo::shortcuts.{}",
          measured.feature, measured.accuracy(), measured.total, layout == Layout::slots ? " in slots" : "",
          bound.text(), kind);
    }
  }

  /// Compares how often samples of the test stream occur in the training stream with the rate by chance, that of
  /// fresh draws of the same split.
  void check_recurrence(const TaskInfo::Split& split, const Task& task,
                        const std::unordered_set<std::uint64_t>& trained, SplitCertificate& found) {
    const Recurrence r = recurrence(trained, SampleStream(task, StreamId{Purpose::test, split.name}),
                                    {task, "recurrence:" + split.name, 1});
    found.training_samples = kTrainingSamples;
    found.seen_in_training = static_cast<double>(r.seen) / r.samples;
    found.seen_by_chance = static_cast<double>(r.by_chance) / r.samples;
    if (r.excessive())
      add_fault(split, "{} of {} samples occur in training; by chance {} would", r.seen, r.samples, r.by_chance);
  }

  Spec spec_;
  TaskSetup setup_;
  Spec canonical_;
  const Oracle* oracle_ = nullptr;
  std::vector<std::string> faults_;
};

}  // namespace

bool Recurrence::excessive() const { return seen > by_chance + kTolerance * std::sqrt(seen + by_chance + 1); }

std::unordered_set<std::uint64_t> training_fingerprints(const SampleStream& samples) {
  std::unordered_set<std::uint64_t> all;
  for (int n = 0; n < kTrainingSamples; ++n) all.insert(fingerprint(samples(n).example));
  return all;
}

Recurrence recurrence(const std::unordered_set<std::uint64_t>& trained, const SampleStream& test,
                      const SampleStream& fresh) {
  return {recurrences(trained, test), recurrences(trained, fresh), kSamples};
}

std::string check_learnability(const TaskInfo& info) {
  const bool is_learnable = info.learnability == Learnability::learnable;
  if (is_learnable == info.learnability_note.empty()) return "";
  if (is_learnable) return "the task is learnable, but has a learnability_note; remove it or set .learnability";
  return fmt::format("the task is marked {}, but has no learnability_note; state the reason",
                     to_string(info.learnability));
}

TaskCertificate certify_task(const std::string& spec) {
  try {
    return TaskCheck(spec).measure();
  } catch (const InputError& error) {
    if (!Spec::parse(spec).options.empty()) throw;  // the options of the user
    return {.task = spec, .faults = {error.what()}};
  }
}

}  // namespace posbench
