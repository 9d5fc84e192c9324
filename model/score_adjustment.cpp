#include "model/score_adjustment.h"

#include <algorithm>
#include <cmath>

#include "model/attention.h"
#include "model/hidden.h"
#include "model/seen_keys.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// Returns the factor of a logit scale.
double scale_factor(const ModelConfig& config, Index i, Index length) {
  if (config.logit_scale == LogitScale::constant) return 1;
  const Index trained = std::max(2, config.tokens_in_training());
  const auto log = [](Index count) { return std::log(static_cast<double>(count)); };
  const double ratio = log(num_keys_in_window(config, i, length)) /
                       log(std::max<Index>(2, num_keys_in_window(config, trained - 1, trained)));
  return config.logit_scale == LogitScale::log_length ? ratio : std::max(1.0, ratio);
}

/// Multiplies scores by a factor. Hidden keys stay hidden.
void scale_row(Real* row, Index keys, Real factor) {
  for (Index j = 0; j < keys; ++j) row[j] = is_hidden(row[j]) ? row[j] : factor * row[j];
}

}  // namespace

Real ScoreAdjustment::factor(Index i, Index length) const {
  const double scale = scale_factor(config_, i, length);
  if (config_.temperature == 0) return static_cast<Real>(scale);
  constexpr double kStrength = 0.1;  // attn_scale of Llama 4
  const auto blocks = static_cast<double>((i + 1) / config_.temperature);
  return static_cast<Real>(scale * (1 + kStrength * std::log(1 + blocks)));
}

void ScoreAdjustment::scale(Heads& parts) const {
  if (!scales()) return;
  for (Matrix& head : parts) {
    const Index T = head.rows();
    for (Index i = 0; i < T; ++i)
      scale_row(head.row(i).data(), num_visible_keys(i, T, config_.causal), factor(i, T));
  }
}

/// Multiplies the entries of each row by its factor and calls hide(row, j) for the keys j that the query does not
/// see.
template <class Hide>
void ScoreAdjustment::for_each_row(Heads& scores, Hide hide) const {
  if (!config_.hides_keys() && !scales()) return;
  for (Matrix& head : scores) {
    const Index T = head.rows();
    for (Index i = 0; i < T; ++i) {
      Real* row = head.row(i).data();
      const Index keys = num_visible_keys(i, T, config_.causal);
      const Real factor = this->factor(i, T);
      scale_row(row, keys, factor);
      if (!config_.hides_keys()) continue;
      const KeyRange seen = window_keys(config_, i, T);
      for (Index j = config_.sinks; j < seen.first; ++j) hide(row, j);
      for (Index j = std::max<Index>(config_.sinks, seen.end); j < keys; ++j) hide(row, j);
    }
  }
}

void ScoreAdjustment::apply(Heads& scores) const {
  for_each_row(scores, [](Real* row, Index j) { row[j] = kHidden; });
}

void ScoreAdjustment::apply_backward(Heads& d_scores) const {
  for_each_row(d_scores, [](Real* row, Index j) { row[j] = 0; });
}

}  // namespace posbench::inline POSBENCH_REAL
