// Applies the options of a model that act on the scores of an encoding, between the stages score and normalize.
#pragma once
#include "model/model_config.h"
#include "model/tensor.h"

namespace posbench::inline POSBENCH_REAL {

/// Multiplies the scores of each query by a factor, the logit scale times the temperature, and hides the keys
/// outside of the window, segments or chunk.
class ScoreAdjustment {
 public:
  explicit ScoreAdjustment(const ModelConfig& config) : config_(config) {}

  /// Multiplies scores by their factor and hides keys. Hidden keys stay hidden.
  void apply(Heads& scores) const;
  /// Multiplies parts of scores by the factor of the scores.
  void scale(Heads& parts) const;
  /// Turns the gradient of the adjusted scores into that of the scores of the encoding.
  void apply_backward(Heads& d_scores) const;

 private:
  template <class Hide>
  void for_each_row(Heads& scores, Hide) const;
  bool scales() const { return config_.logit_scale != LogitScale::constant || config_.temperature > 0; }
  Real factor(Index i, Index length) const;

  ModelConfig config_;
};

}  // namespace posbench::inline POSBENCH_REAL
