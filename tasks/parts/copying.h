// Declares the common part of the tasks that copy or reverse a string of numbered tokens.
#pragma once
#include <string>
#include <vector>

#include "tasks/parts/basic_task.h"

namespace posbench {

/// A task over the tokens 0 .. symbols - 1 and a separator, which precedes the answer and ends it. `Options` has a
/// member `int symbols`.
template <class Options>
class CopyingTask : public BasicTask<Options> {
 public:
  using BasicTask<Options>::BasicTask;
  int vocabulary() const final { return separator() + 1; }
  double chance_level() const final { return 1.0 / vocabulary(); }
  std::string token_text(int token) const final { return token == separator() ? "=" : std::to_string(token); }

 protected:
  int separator() const { return this->options_.symbols; }
};

/// The splits and the published facts of the copying tasks of Kazemnejad et al. 2023.
inline std::vector<TaskInfo::Split> copying_splits() {
  return {{"in_distribution", {}, "the trained lengths"},
          {"ood_length", {{"length", "1.05x/1.2x/1.4x/1.6x/1.8x/2x"}}, "up to twice the trained lengths"}};
}
inline constexpr const char* kCopyingPublished =
    "The paper has 100 different tokens, trains on lengths up to 20 and tests on 21..40. "
    "Here there are 16 tokens, the prompt in English is left out, and the answer ends with a separator.";

}  // namespace posbench
