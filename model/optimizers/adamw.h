// Declares AdamW, which other optimizers use for the parameters that they leave to it.
#pragma once
#include "model/optimizer.h"

namespace posbench::inline POSBENCH_REAL::adamw {

class AdamW final : public Optimizer {
 public:
  /// Updates the parameters that `takes` returns true for; null: all.
  AdamW(const OptimizerOptions& options, const ParameterLayout& layout,
        bool (*takes)(const ParameterLayout::Entry&) = nullptr)
      : options_(options), weight_decay_(options.weight_decay, options.decayed_parameters, layout, takes) {}

  OptimizerState initial_state(const ParameterLayout&) const override;
  void step(const Gradients&, double learning_rate, OptimizerState&, Parameters&) const override;

 private:
  OptimizerOptions options_;
  WeightDecay weight_decay_;
};

}  // namespace posbench::inline POSBENCH_REAL::adamw
