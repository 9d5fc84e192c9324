// Measures how many answers of a task can be read from one feature of the input.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "tasks/task.h"

namespace posbench {

/// The accuracy of a predictor that reads one feature. It learned the most frequent answer for each value of the
/// feature on one half of the examples, and it is tested on the other half.
struct ShortcutAccuracy {
  std::string feature;  // "the token 3 positions before the scored one"
  std::int64_t correct = 0, total = 0;
  double at_least = 0;  // the true accuracy is less with a probability of 1e-9 only

  double accuracy() const { return total > 0 ? static_cast<double>(correct) / static_cast<double>(total) : 0; }
};

/// Returns for each kind of predictor (the names of the members of Shortcuts) the one with the largest `at_least`.
/// One scored position of each example is drawn, so that the tests are independent. With teacher forcing, features
/// are read at and before this position, in slots everywhere. The token of the evidence is hidden.
std::map<std::string, ShortcutAccuracy> measure_shortcuts(std::span<const Example>, const Task&, Layout);

}  // namespace posbench
