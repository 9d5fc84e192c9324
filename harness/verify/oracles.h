// An independent statement of every task: from what the model reads, the answers at the scored places. `posbench
// check` and the tests hold the generators to it. A new task owes one row here.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/spec.h"
#include "tasks/task.h"

namespace posbench {

using Tokens = std::vector<int>;

/// The answers in the order of Example::scored. Reads tokens and scored places; must not read targets.
class Oracle {
 public:
  /// `also`: options under which it still holds, beside the length and what splits change.
  template <class Answers>
  Oracle(Answers answers, std::vector<std::string> also = {})
      : answers_(std::move(answers)), also_(std::move(also)) {}

  Tokens operator()(const Example& e) const { return answers_(e); }
  /// Whether it holds for the task with these options.
  bool states(const Spec&, const TaskInfo&) const;

 private:
  std::function<Tokens(const Example&)> answers_;
  std::vector<std::string> also_;
};

const std::map<std::string, Oracle>& oracles();

}  // namespace posbench
