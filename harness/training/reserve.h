// Reserves questions for tests, so that training never shows them.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tasks/task.h"

namespace posbench {

/// Returns a hash of the tokens that are read up to the last answer, without the first `before`. It is the same on
/// every machine.
std::uint64_t question_hash(const Example&, int before = 0);

/// The rule by which training skips questions and tests draw no others: those whose hash is at most a limit, about
/// 10 % of the questions of a length. A length with fewer than kFewestQuestions different questions, or with one
/// or a few that are most of its samples, is exempt. Threads may use one object at once.
class Reserve {
 public:
  static constexpr int kFewestQuestions = 20;

  /// Takes the task that a model is trained on.
  explicit Reserve(std::shared_ptr<const Task> trained) : trained_(std::move(trained)) {}

  /// Returns the greatest reserved hash of samples of a task at a length; 0 if the length is exempt. Where the
  /// trained task has few questions, more hashes are reserved, so that at least 10 % of the questions are. Another
  /// task of the same length is exempt, too, if it has no reserved question.
  std::uint64_t limit(const Task&, int length) const;

  /// Returns the exempt lengths of a task, ascending. Lengths beyond ten that are not exempt are not looked at.
  std::vector<int> exempt_lengths(const Task&) const;

 private:
  std::uint64_t trained_limit(int length) const;
  std::uint64_t find_limit(const Task&, int length) const;

  std::shared_ptr<const Task> trained_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<const Task*, int>, std::uint64_t> limits_;
};

}  // namespace posbench
