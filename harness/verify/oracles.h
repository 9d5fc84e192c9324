// An independent solution of every task: from what the model reads, the answers at the scored positions. `posbench
// check` and the tests compare the generators with it. A new task needs one row here.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/spec.h"
#include "tasks/task.h"

namespace posbench {

using Tokens = std::vector<int>;

/// The answers, in the order of Example::scored. It reads tokens and scored positions and must not read targets.
class Oracle {
 public:
  /// `also`: options under which it is still valid, beside the length and the options that splits change.
  template <class Answers>
  Oracle(Answers answers, std::vector<std::string> also = {})
      : answers_(std::move(answers)), also_(std::move(also)) {}

  Tokens operator()(const Example& e) const { return answers_(e); }
  /// Whether it is valid for the task with these options.
  bool states(const Spec&, const TaskInfo&) const;

 private:
  std::function<Tokens(const Example&)> answers_;
  std::vector<std::string> also_;
};

const std::map<std::string, Oracle>& oracles();

/// The oracle of a task in a plug-in, as an object beside its registration.
struct RegisterOracle {
#ifdef posbench  // compiled in double precision, where there are no tasks to check
  RegisterOracle(const std::string&, const Oracle&) {}
#else
  RegisterOracle(const std::string& task, Oracle);
#endif
};

}  // namespace posbench
