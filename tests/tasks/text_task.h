// Builds tasks for tests, and reads and writes their tokens as text.
#pragma once
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "harness/check/oracles.h"
#include "tasks/registry.h"

namespace posbench {

inline std::unique_ptr<Task> make(const std::string& spec, Layout layout = Layout::teacher_forced) {
  const Spec parsed = Spec::parse(spec);
  return tasks().find(parsed.name).make(parsed, layout);
}

inline Tokens scored_answers(const Example& e) {
  Tokens answers;
  for (const int t : e.scored) answers.push_back(e.targets[t]);
  return answers;
}

/// A task whose tokens are read and written as `posbench sample` prints them, with spaces between.
class TextTask {
 public:
  explicit TextTask(const std::string& spec, Layout layout = Layout::teacher_forced)
      : name_(Spec::parse(spec).name), task_(make(spec, layout)) {
    for (int id = 0; id < task_->vocabulary(); ++id) ids_.emplace(task_->token_text(id), id);
  }
  const Task& task() const { return *task_; }

  Tokens ids(const std::string& text) const {
    std::istringstream words(text);
    Tokens tokens;
    for (std::string word; words >> word;) tokens.push_back(ids_.at(word));
    return tokens;
  }
  std::string text(const Tokens& tokens) const {
    std::string text;
    for (const int token : tokens) text += (text.empty() ? "" : " ") + task_->token_text(token);
    return text;
  }

  /// Returns the oracle's answer to a question that ends at the first of `positions` target positions.
  std::string answer(const std::string& question, int positions = 1) const {
    Example e{.tokens = ids(question)};
    for (int n = 0; n < positions; ++n) e.scored.push_back(static_cast<int>(e.tokens.size()) - 1 + n);
    return text(oracles().at(name_)(e));
  }
  /// Returns the oracle's answers at these positions of a sequence with questions inside it.
  std::string answers(const std::string& sequence, Tokens scored) const {
    return text(oracles().at(name_)(Example{.tokens = ids(sequence), .scored = std::move(scored)}));
  }

  Example draw(int length, int index = 0) const {
    Rng rng = make_rng(0, name_, index);
    return task_->sample(length, rng);
  }
  std::string question(const Example& e) const {
    return text({e.tokens.begin(), e.tokens.begin() + e.scored.front()});
  }
  std::string answer(const Example& e) const { return text(scored_answers(e)); }

 private:
  std::string name_;
  std::unique_ptr<Task> task_;
  std::map<std::string, int> ids_;
};

}  // namespace posbench
