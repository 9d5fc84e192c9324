// An oracle solves a task independently of its generator: it computes the answers at the scored positions from
// what the model reads, and the distances to their evidence. `posbench check` and the tests compare the two. Each
// oracle is one object in harness/check/oracles/FAMILY.cpp.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/real.h"
#include "base/spec.h"
#include "tasks/task.h"

namespace posbench {

using Tokens = std::vector<int>;

/// Computes the answers in the order of Example::scored. It reads tokens and scored positions, never targets.
class Oracle {
 public:
  using Solve = std::function<Tokens(const Example&)>;
  using Distances = std::function<std::vector<int>(const Example&)>;

  /// `valid_options`: options under which it is valid, in addition to the length and the options that splits
  /// change. An entry NAME=VALUE permits this value and the default only. `distances`: computes the values of
  /// Example::distances.
  Oracle(std::vector<std::string> valid_options, Solve solve, Distances distances)
      : valid_options_(std::move(valid_options)), solve_(std::move(solve)), distances_(std::move(distances)) {}

  Tokens operator()(const Example& e) const { return solve_(e); }
  bool has_distances() const { return distances_ != nullptr; }
  std::vector<int> distances(const Example& e) const { return distances_(e); }
  /// Returns true if the oracle is valid for the task with the options of this spec.
  bool is_valid(const Spec&, const TaskInfo&) const;

 private:
  std::vector<std::string> valid_options_;
  Solve solve_;
  Distances distances_;
};

/// Returns the oracles by the names of their tasks.
const std::map<std::string, Oracle>& oracles();

/// Adds the oracle of a task, of posbench or of a plug-in. A second oracle of the same task ends the program.
void add_oracle(const std::string& task, Oracle);

inline namespace POSBENCH_REAL {

/// Registers the oracle of a task once, as RegisterTask does with the task.
struct RegisterOracle {
  RegisterOracle(const std::string& task, Oracle::Solve solve) : RegisterOracle(task, {}, std::move(solve)) {}
  RegisterOracle(const std::string& task, std::vector<std::string> valid_options, Oracle::Solve solve,
                 Oracle::Distances distances = {}) {
    if constexpr (std::is_same_v<Real, float>)
      add_oracle(task, Oracle(std::move(valid_options), std::move(solve), std::move(distances)));
  }
};

}  // namespace POSBENCH_REAL
}  // namespace posbench
