#include "model/optimizer.h"

#include <cmath>
#include <numbers>

namespace posbench {

std::unique_ptr<const Optimizer> make_optimizer(const OptimizerOptions& options, const ParameterLayout& layout) {
  switch (options.kind) {
    case OptimizerKind::adamw:
      return make_adamw(options, layout);
    case OptimizerKind::sgd:
      return make_sgd(options, layout);
  }
  return nullptr;
}

WeightDecay::WeightDecay(double weight_decay, DecayedParameters which, const ParameterLayout& layout)
    : weight_decay_(weight_decay), which_(which) {
  for (const ParameterLayout::Entry& entry : layout.entries()) {
    if (entry.decays) matrices_.push_back(entry.parameter);
  }
}

void WeightDecay::apply(double learning_rate, Parameters& parameters) const {
  if (weight_decay_ == 0) return;
  const Real keep = static_cast<Real>(1 - learning_rate * weight_decay_);
  switch (which_) {
    case DecayedParameters::all:
      parameters.flat *= keep;
      break;
    case DecayedParameters::matrices:
      for (const Parameter& matrix : matrices_) parameters[matrix] *= keep;
      break;
  }
}

double clip(Gradients& gradients, double max_norm) {
  const double norm = gradients.flat.norm();
  if (norm > max_norm) gradients.flat *= static_cast<Real>(max_norm / norm);
  return norm;
}

double schedule(Decay decay, int step, int steps, int warm_up) {
  if (step < warm_up) return (step + 1.0) / warm_up;
  const double done = static_cast<double>(step - warm_up) / std::max(1, steps - warm_up);
  switch (decay) {
    case Decay::cosine:
      return (1 + std::cos(std::numbers::pi * done)) / 2;
    case Decay::linear:
      return 1 - done;
    case Decay::constant:
      break;
  }
  return 1;
}

}  // namespace posbench
