// Counts the right answers of a model on the samples of a split, and computes the mean loss and margin.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "results/types/experiment_result.h"
#include "tasks/task.h"

namespace posbench {

/// A model's answer to one scored position.
struct ScoredAnswer {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  bool right = false;
  int predicted = -1;        // -1 if the logits are not known
  double loss = kUnknown;    // cross-entropy in nats; NaN if the logits are not known
  double margin = kUnknown;  // the target's logit minus the greatest other one
};

/// Scores the logits of all ids that could be predicted. The prediction and the margin are among the candidates if
/// there are any; if logits are equal, the first is predicted. The loss is over all logits, as in training.
ScoredAnswer score_answer(std::span<const double> logits, const std::vector<int>& candidates, int target);

/// Counts overall, by length, by distance and by position in the answer.
class Tally {
 public:
  /// `answers`: one for each scored position of the example. `length`: in the task's unit.
  void add(const Example&, int length, const std::vector<ScoredAnswer>& answers);

  Count sequence() const { return all_.sequence; }
  SplitResult result() const;  // without name and kind

 private:
  struct Group {
    Count token, sequence;
    double loss = 0, margin = 0;  // sums
    void add(const ScoredAnswer&);
  };
  std::int64_t sequences_ = 0;
  Group all_;
  std::map<int, Group> by_length_, by_distance_, by_position_;
};

}  // namespace posbench
