// Declares the common part of the tasks of the Chomsky hierarchy (Deletang et al. 2023).
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

#include "tasks/parts/basic_task.h"

namespace posbench {

/// A task over an alphabet whose last character is the empty token. The first `num_answers` ids are the possible
/// answers.
template <class Options, Literal alphabet, int num_answers>
class ChomskyTask : public AlphabetTask<Options, alphabet> {
 public:
  using AlphabetTask<Options, alphabet>::AlphabetTask;
  int answers() const final { return num_answers; }
  double chance_level() const final { return 1.0 / num_answers; }

 protected:
  static constexpr int kBlank = sizeof(alphabet.text) - 2;
};

inline constexpr const char* kChomskySource = "Deletang et al. 2023, arXiv:2207.02098, section 4";

/// TaskInfo::published: the published lengths and those of the default, then the sentences in which the task
/// differs from others.
inline std::string chomsky_published(const std::string& differences = "", int longest = 20) {
  return fmt::format(
      "The paper trains on lengths 1..40 and tests on 41..500. Here the default lengths are 1..{} and six lengths "
      "from {} to {}.{}{}{}",
      longest, longest + 1, 5 * longest,
      longest < 20
          ? " Training has nearly every question of the trained lengths, so only ood_length tests the rule."
          : "",
      differences.empty() ? "" : " ", differences);
}

/// The differences of a task whose answer ends with a terminator.
inline constexpr const char* kChomskyTerminator =
    "The paper has no teacher forcing. "
    "Here a teacher-forced answer stops at its terminator, as a decoder would. "
    "In slots, zeros follow the terminator as in the paper, but they are not scored. "
    "The chance level counts the terminator as a possible answer.";

inline std::vector<TaskInfo::Split> chomsky_splits() {
  return {{"in_distribution", {}, "the trained lengths"},
          {"ood_length", {{"length", "1.05x/1.5x/2x/3x/4x/5x"}}, "longer than trained"}};
}

}  // namespace posbench
