// An oracle solves a task independently of its generator: it computes the answers at the scored positions from what the
// model reads. `posbench check` and the tests compare the two. Each oracle is one object in harness/verify/oracles/FAMILY.cpp.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/spec.h"
#include "tasks/task.h"

namespace posbench {

using Tokens = std::vector<int>;

/// Computes the answers in the order of Example::scored. It reads tokens and scored positions, never targets.
class Oracle {
 public:
  using Solve = std::function<Tokens(const Example&)>;

  /// `valid_options`: options under which it is valid, in addition to the length and the options that splits change.
  Oracle(std::vector<std::string> valid_options, Solve solve)
      : valid_options_(std::move(valid_options)), solve_(std::move(solve)) {}

  Tokens operator()(const Example& e) const { return solve_(e); }
  /// Returns true if the oracle is valid for the task with the options of this spec.
  bool is_valid(const Spec&, const TaskInfo&) const;

 private:
  std::vector<std::string> valid_options_;
  Solve solve_;
};

/// Returns the oracles by the names of their tasks.
const std::map<std::string, Oracle>& oracles();

/// Registers the oracle of a task, of posbench or of a plug-in. A second oracle of the same task ends the program.
struct RegisterOracle {
  using ValidOptions = std::vector<std::string>;
#ifdef posbench  // The double-precision half of a plug-in has no tasks to check.
  RegisterOracle(const std::string&, const Oracle::Solve&) {}
  RegisterOracle(const std::string&, const ValidOptions&, const Oracle::Solve&) {}
#else
  RegisterOracle(const std::string& task, Oracle::Solve solve) : RegisterOracle(task, {}, std::move(solve)) {}
  RegisterOracle(const std::string& task, ValidOptions, Oracle::Solve);
#endif
};

}  // namespace posbench
