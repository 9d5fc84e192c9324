// Asks a second task about the result of a first one.
//
//   2 0 0 _' k3 v9 k1 v6 k5 v11 k2 v8 k4 v7 _ _ ?      target: v11
//
// Token 2 is a step right and 0 a step left, so the walk ends at position 4 of 0 to 4. Positions and keys are both
// sorted by id. Result number n stands for key number n, so `?` stands for the fifth key, k5.
//
// The question of the first task comes first. The question of the second one follows, up to its first scored
// position. The token there is replaced by `?`. The second example is drawn again until it asks with the token of
// the result. A token of the first task has a ' if the second has one of the same name.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/spec.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::then {
namespace {

const TaskInfo kInfo{
    .name = "then",
    .family = "composed",
    .aspects = {Aspect::state_tracking, Aspect::recall},
    .definition =
        "The model reads a question of one task and then one of another, which asks about the result of the first.",
    .requirement =
        "The model has to compute the result of the first task, keep it while it reads further, and use it in place "
        "of a token of the question. Neither part can be left out.",
    .source = "ours; arXiv:2510.00258 studies state tracking and recall in one sequence",
    .published =
        "of=(A,B) takes tasks with options. A has answers of one token. B asks with the token at its scored position. "
        "A must have as many results as B has such tokens. With train_on=both the answers of A are trained too, and "
        "only the last answer is scored.",
    .length_unit = "units of the first task",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths of both"},
               {"ood_first", {{"length", "1x..2x"}}, "up to twice the length of the first question"},
               {"ood_second", {{"second_length", "2x"}}, "twice the length of the second question"},
               {"ood_both", {{"length", "1x..2x"}, {"second_length", "2x"}}, "both at once"}},
    .shortcuts = {.token = 0.2, .neighbor = 0.24, .count = 0.2},
};

enum class Trained { answer, both };
struct Options {
  std::string of = "cycle_navigation,mqar:vocabulary=12,pairs=5";
  Integers length{1, 5};
  Integers second_length{24};
  Trained train_on = Trained::both;
  void describe(OptionTable& o) {
    o.text("of", of, "two tasks", "the first task, and the task that asks about its result");
    o.integers("length", length, 1, 100000, "length of the first question, in units of its task");
    o.integers("second_length", second_length, 1, 100000, "length of the second question, in units of its task");
    o.choice("train_on", train_on, {"answer", "both"}, "the last answer, or also those of the first task");
  }
};

/// Returns the spec of a member with its lengths.
Spec with_length(Spec spec, const Integers& lengths, const std::string& option) {
  for (const auto& [name, value] : spec.options) {
    if (name == "length")
      throw InputError(
          fmt::format("task 'then': '{}' sets length; set {} of 'then' instead", spec.text(), option));
  }
  spec.options.emplace_back("length", lengths.text());
  return spec;
}

class Then final : public BasicTask<Options> {
 public:
  Then(const Options& options, Layout layout) : BasicTask(options, layout) {
    const std::vector<std::string> of = split_specs(options.of);
    if (of.size() != 2) {
      throw InputError(fmt::format(
          "task 'then': of is '{}', expected two tasks, as in of=(parity_check,mqar:vocabulary=6,pairs=2)",
          options.of));
    }
    const Spec first = Spec::parse(of[0]), second = Spec::parse(of[1]);
    first_ = make(first, options.length, "length");
    second_ = make(second, options.second_length, "second_length");
    if (has_long_answers(first)) {
      throw InputError(fmt::format(
          "task 'then': the answers of '{}' have several tokens; choose a first task with answers of one token",
          first.name));
    }
    find_results();
    if (results_.size() != queries_.size() || results_.size() < 2) {
      throw InputError(fmt::format(
          "task 'then': '{}' has {} results, and '{}' asks with {} different tokens; choose tasks or options with "
          "equal numbers, 2 or more",
          first.text(), results_.size(), second.text(), queries_.size()));
    }
  }

  int vocabulary() const override { return first_token() + first_->vocabulary(); }
  int answers() const override { return options_.train_on == Trained::both ? vocabulary() : second_->answers(); }
  double chance_level() const override { return second_->chance_level(); }
  std::string token_text(int token) const override {
    if (token == query()) return "?";
    if (token < query()) return second_->token_text(token);
    std::string text = first_->token_text(token - first_token());
    for (int other = 0; other < query(); ++other) {
      if (second_->token_text(other) == text) return text + "'";
    }
    return text;
  }

  bool has_separate_tests() const override {
    return first_->has_separate_tests() || second_->has_separate_tests();
  }
  Example sample(int length, Rng& rng) const override { return sample_of(Purpose::train, length, rng); }

  Example sample_of(Purpose purpose, int length, Rng& rng) const override {
    Example first = first_->sample_of(purpose, length, rng);
    while (!std::ranges::binary_search(results_, result(first))) first = first_->sample_of(purpose, length, rng);
    const auto number = std::ranges::lower_bound(results_, result(first)) - results_.begin();
    Example second;
    do {
      second = second_->sample_of(purpose, options_.second_length.draw(rng), rng);
    } while (query_token(second) != queries_[static_cast<size_t>(number)]);
    return join(first, second);
  }

 private:
  int query() const { return second_->vocabulary(); }
  int first_token() const { return query() + 1; }

  static int result(const Example& first) { return first.targets[first.scored.back()]; }
  static int query_token(const Example& second) { return second.tokens[second.scored.front()]; }

  std::unique_ptr<Task> make(const Spec& spec, const Integers& lengths, const std::string& option) const {
    const TaskEntry& entry = tasks().find(spec.name);
    if (entry.info.causal_only && layout_ == Layout::slots)
      throw InputError(fmt::format("task 'then': '{}' is for causal models only; choose another task", spec.name));
    return entry.make(with_length(spec, lengths, option), layout_);
  }

  /// Returns true if the model reads earlier tokens of an answer: then the layouts differ.
  bool has_long_answers(const Spec& first) const {
    const TaskEntry& entry = tasks().find(first.name);
    if (entry.info.causal_only) return false;
    const Spec spec = with_length(first, options_.length, "length");
    const auto read = [&](Layout layout) {
      Rng rng = make_rng(0, "then", 1);
      const Example e = entry.make(spec, layout)->sample(options_.length.max(), rng);
      return std::vector<int>(e.tokens.begin(), e.tokens.begin() + e.scored.back() + 1);
    };
    return read(Layout::teacher_forced) != read(Layout::slots);
  }

  /// Finds the results of the first task and the query tokens of the second one in samples.
  void find_results() {
    constexpr int kSamples = 2000;
    Rng rng = make_rng(0, "then", 0);
    for (int n = 0; n < kSamples; ++n) {
      results_.push_back(result(first_->sample(options_.length.draw(rng), rng)));
      queries_.push_back(query_token(second_->sample(options_.second_length.draw(rng), rng)));
    }
    for (std::vector<int>* all : {&results_, &queries_}) {
      std::ranges::sort(*all);
      all->erase(std::unique(all->begin(), all->end()), all->end());
    }
  }

  Example join(const Example& first, const Example& second) const {
    const int first_size = first.scored.back() + 1, asked = first_size + second.scored.front();
    Example example{.scored = {asked}, .length = first.length, .candidates = second.candidates};
    for (int t = 0; t < first_size; ++t) {
      example.tokens.push_back(first_token() + first.tokens[t]);
      const bool trained = options_.train_on == Trained::both && first.targets[t] != kIgnore;
      example.targets.push_back(trained ? first_token() + first.targets[t] : kIgnore);
    }
    std::copy_n(second.tokens.begin(), second.scored.front(), std::back_inserter(example.tokens));
    example.tokens.push_back(query());
    example.targets.resize(example.tokens.size(), kIgnore);
    example.targets.back() = second.targets[second.scored.front()];
    const int next = 1 + *std::ranges::max_element(first.segments);
    example.segments.assign(first.segments.begin(), first.segments.begin() + first_size);
    for (int t = 0; t <= second.scored.front(); ++t) example.segments.push_back(next + second.segments[t]);
    if (!second.evidence.empty()) set_evidence(example, {first_size + second.evidence.front()});
    return example;
  }

  std::unique_ptr<Task> first_, second_;
  std::vector<int> results_, queries_;  // ascending
};

const RegisterTask<Then> registered{kInfo};

}  // namespace
}  // namespace posbench::then
