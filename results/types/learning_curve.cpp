#include "results/types/learning_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace posbench {
namespace {

/// Interpolates linearly between the points of the curve. Before the first point, returns its value.
double validation_at(const std::vector<CurvePoint>& curve, double step) {
  for (size_t i = 1; i < curve.size(); ++i) {
    if (step > curve[i].step) continue;
    const double from = curve[i - 1].step, to = curve[i].step;
    const double fraction = std::clamp((step - from) / (to - from), 0.0, 1.0);
    return std::lerp(curve[i - 1].validation_sequence, curve[i].validation_sequence, fraction);
  }
  return curve.back().validation_sequence;
}

}  // namespace

std::optional<double> late_gain(const std::vector<CurvePoint>& curve) {
  if (curve.size() < 2) return std::nullopt;
  const double before = validation_at(curve, (1 - kLateTraining) * curve.back().step);
  return curve.back().validation_sequence - before;
}

bool is_unfinished(const std::vector<CurvePoint>& curve) {
  return !curve.empty() && curve.back().validation_sequence < kLearned &&
         late_gain(curve).value_or(0) >= kStillGains;
}

}  // namespace posbench
