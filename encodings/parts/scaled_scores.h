// Wrappers that multiply the scores of a query by a factor.
#pragma once
#include "encodings/parts/decorator.h"

namespace posbench::inline POSBENCH_REAL {

/// score_h(i, j) = f_h(i) times the score of the inner encoding. Keys that the inner encoding hides stay hidden.
class ScaledScores : public Decorator {
 public:
  using Decorator::Decorator;

  /// Returns f (T, H), in scratch.
  virtual Matrix& factors(const AttentionInput&) const = 0;
  /// Adds the gradients of the inputs of the factors. May overwrite d_factors.
  virtual void factors_backward(const AttentionInput&, Matrix& d_factors, AttentionGradient&) const = 0;

  void score(const AttentionInput&, Heads& scores) const final;
  void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const final;
  void content(const AttentionInput&, Heads& content) const final;

 private:
  /// Multiplies each row of scores, or of content terms, by its factor.
  void multiply_by_factors(const AttentionInput&, Heads& scores) const;
};

}  // namespace posbench::inline POSBENCH_REAL
