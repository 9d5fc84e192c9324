// A task that is marked, as a plug-in. The answer does not depend on the question, so no model can learn it.
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::marked_task {
namespace {

constexpr int kSymbols = 4, kDefect = 13, kThrowsInt = 14, kExits = 15;

/// Returns the name of the task. The variable MARKED_TASK replaces it, or is a fault while the library is loaded.
std::string name_or_fault() {
  const char* const given = std::getenv("MARKED_TASK");
  const std::string name = given == nullptr ? "marked_task" : given;
  if (name == "exit") std::exit(0);
  if (name == "int") throw 42;
  if (name == "exception") throw std::runtime_error("no table");
  return name;
}

struct Options : LengthOption<"tokens", 4> {
  bool flag = false;
  /// The variable MARKED_OPTION is the name of another option.
  void describe(OptionTable& o) {
    LengthOption::describe(o);
    if (const char* const name = std::getenv("MARKED_OPTION")) o.flag(name, flag, "does nothing");
  }
};

class MarkedTask final : public AlphabetTask<Options, "0123_"> {
 public:
  using AlphabetTask::AlphabetTask;
  double chance_level() const override { return 1.0 / kSymbols; }

  Example sample(int length, Rng& rng) const override {
    if (length == kDefect) throw std::logic_error("the task has a defect at this length");
    if (length == kThrowsInt) throw 42;
    if (length == kExits) std::exit(0);
    const std::vector<int> question = uniform_tokens(rng, length, 0, kSymbols - 1);
    return ask(layout_, question, kSymbols, {uniform(rng, 0, kSymbols - 1)});
  }
};

const RegisterTask<MarkedTask> registered{{
    .name = name_or_fault(),
    .family = "test",
    .definition = "Reads uniform tokens and answers a token that does not depend on them.\x1b[31m",
    .requirement = "No model can predict the answer.",
    .source = "a test",
    .length_unit = "tokens",
    .splits = splits_to_twice_the_length(),
    .learnability = Learnability::open,
    .learnability_note = "Nothing was tried.",
}};

}  // namespace
}  // namespace posbench::marked_task
