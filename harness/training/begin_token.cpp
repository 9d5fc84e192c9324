#include "harness/training/begin_token.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tasks/registry.h"

namespace posbench {
namespace {

class TaskAfterBeginToken final : public Task {
 public:
  explicit TaskAfterBeginToken(std::unique_ptr<Task> task) : task_(std::move(task)) {}

  int vocabulary() const override { return begin() + 1; }
  int outputs() const override { return task_->outputs(); }
  int answers() const override { return task_->answers(); }
  double chance_level() const override { return task_->chance_level(); }
  const Integers& lengths() const override { return task_->lengths(); }
  Example sample(int length, Rng& rng) const override { return with_begin(task_->sample(length, rng)); }
  Example sample_of(Purpose purpose, int length, Rng& rng) const override {
    return with_begin(task_->sample_of(purpose, length, rng));
  }
  int tokens_before() const override { return 1; }
  bool has_separate_tests() const override { return task_->has_separate_tests(); }
  std::optional<double> entropy() const override { return task_->entropy(); }
  std::string token_text(int token) const override {
    return token == begin() ? "[begin]" : task_->token_text(token);
  }

 private:
  int begin() const { return task_->vocabulary(); }

  Example with_begin(Example e) const {
    e.tokens.insert(e.tokens.begin(), begin());
    e.targets.insert(e.targets.begin(), kIgnore);
    for (int& t : e.scored) ++t;
    for (int& t : e.evidence) ++t;
    for (int& segment : e.segments) ++segment;
    e.segments.insert(e.segments.begin(), 0);
    if (!e.digit_positions.empty()) e.digit_positions.insert(e.digit_positions.begin(), 0);
    for (std::vector<int>& coordinate : e.coordinates) coordinate.insert(coordinate.begin(), 0);
    return e;
  }

  std::unique_ptr<Task> task_;
};

}  // namespace

std::unique_ptr<Task> make_task_for_model(const Spec& spec, const TaskInfo::Split& split,
                                          const ExperimentOptions& options) {
  Spec changed = spec;
  changed.options.insert(changed.options.end(), split.options.begin(), split.options.end());
  std::unique_ptr<Task> task = make_task(changed, {split.name, {}, ""}, options.layout());
  if (!options.model.begin_token) return task;
  return std::make_unique<TaskAfterBeginToken>(std::move(task));
}

}  // namespace posbench
