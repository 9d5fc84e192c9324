// Declares base classes of tasks, with the members that many tasks have in common.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/options.h"
#include "tasks/task.h"

namespace posbench {

/// Holds the options of a task, one of which is `Integers length`, and the layout of its answers.
template <class TaskOptions>
class BasicTask : public Task {
 public:
  using Options = TaskOptions;
  BasicTask(const Options& options, Layout layout) : options_(options), layout_(layout) {}
  const Integers& lengths() const final { return options_.length; }

 protected:
  Options options_;
  Layout layout_;
};

/// A string literal as an argument of a template.
template <size_t N>
struct Literal {
  char text[N]{};
  consteval Literal(const char (&literal)[N]) { std::copy_n(literal, N, text); }
};

/// The options of a task that has only one: `length`, from 1 to `longest` by default, in this unit.
template <Literal unit, int longest = 20>
struct LengthOption {
  Integers length{1, longest};
  void describe(OptionTable& o) { o.integers("length", length, 1, 10000, unit.text); }
};

/// A task whose tokens are single characters. The id of a token is its index in the alphabet.
template <class Options, Literal alphabet>
class AlphabetTask : public BasicTask<Options> {
 public:
  using BasicTask<Options>::BasicTask;
  int vocabulary() const final { return sizeof(alphabet.text) - 1; }
  std::string token_text(int token) const override { return std::string(1, alphabet.text[token]); }
};

/// The splits of a task that is tested on up to twice the trained lengths.
inline std::vector<TaskInfo::Split> splits_to_twice_the_length() {
  return {{"in_distribution", {}, "the trained lengths"},
          {"ood_length", {{"length", "1x..2x"}}, "up to twice the trained lengths"}};
}

/// The splits of a task that is tested on up to twice, and on two to three times the trained lengths.
inline std::vector<TaskInfo::Split> splits_to_three_times_the_length() {
  return {{"in_distribution", {}, "the trained lengths"},
          {"ood_length2", {{"length", "1x..2x"}}, "up to twice the trained lengths"},
          {"ood_length3", {{"length", "2x..3x"}}, "up to three times the trained lengths"}};
}

}  // namespace posbench
