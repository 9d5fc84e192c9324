#include "harness/training/tally.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

namespace posbench {
namespace {

/// Returns nothing if the mean is not finite.
std::optional<double> mean(double sum, Count count) {
  if (!std::isfinite(sum) || count.total == 0) return std::nullopt;
  return sum / static_cast<double>(count.total);
}

/// Rounds to 1e-6, which halves the bytes in a report.
std::optional<double> rounded(std::optional<double> value) {
  if (value) value = std::round(*value * 1e6) / 1e6;
  return value;
}

}  // namespace

ScoredAnswer score_answer(std::span<const double> logits, const std::vector<int>& candidates, int target) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (const double logit : logits) total += std::exp(logit - top);
  const auto at = [&](int id) { return logits[static_cast<size_t>(id)]; };
  int predicted = -1;
  double other = -HUGE_VAL;
  const auto consider = [&](int id) {
    if (predicted < 0 || at(id) > at(predicted)) predicted = id;
    if (id != target) other = std::max(other, at(id));
  };
  if (candidates.empty()) {
    for (int id = 0; id < static_cast<int>(logits.size()); ++id) consider(id);
  } else {
    for (const int id : candidates) consider(id);
  }
  const bool is_right = predicted == target && std::isfinite(at(target));
  return {.right = is_right,
          .predicted = predicted,
          .loss = std::log(total) + top - at(target),
          .margin = at(target) - other};
}

void Tally::Group::add(const ScoredAnswer& answer) {
  token += {answer.right, 1};
  loss += answer.loss;
  margin += answer.margin;
}

void Tally::add(const Example& example, int length, const std::vector<ScoredAnswer>& answers) {
  ++sequences_;
  if (answers.empty()) return;
  Group& of_length = by_length_[length];
  for (size_t n = 0; n < answers.size(); ++n) {
    all_.add(answers[n]);
    of_length.add(answers[n]);
    by_position_[static_cast<int>(n) + 1].add(answers[n]);
    if (!example.distances.empty()) by_distance_[example.distances[n]].add(answers[n]);
  }
  const bool right = std::all_of(answers.begin(), answers.end(), [](const ScoredAnswer& a) { return a.right; });
  all_.sequence += {right, 1};
  of_length.sequence += {right, 1};
}

SplitResult Tally::result() const {
  SplitResult result{.sequences = sequences_,
                     .token = all_.token,
                     .sequence = all_.sequence,
                     .loss = mean(all_.loss, all_.token),
                     .margin = mean(all_.margin, all_.token)};
  const auto loss = [](const Group& group) { return rounded(mean(group.loss, group.token)); };
  const auto margin = [](const Group& group) { return rounded(mean(group.margin, group.token)); };
  for (const auto& [length, group] : by_length_)
    result.by_length.push_back({length, group.token, group.sequence, loss(group), margin(group)});
  for (const auto& [distance, group] : by_distance_)
    result.by_distance.push_back({distance, group.token, loss(group), margin(group)});
  if (by_position_.size() == 1) return result;
  for (const auto& [position, group] : by_position_)
    result.by_position.push_back({position, group.token, loss(group), margin(group)});
  return result;
}

}  // namespace posbench
