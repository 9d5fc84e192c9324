#include "model/optimizer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "model/kernels.h"

namespace posbench::inline POSBENCH_REAL {

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
    : weight_decay_(weight_decay) {
  if (weight_decay == 0 || which == DecayedParameters::all) {
    ranges_.push_back({0, layout.flat_size(), true});
    return;
  }
  for (const ParameterLayout::Entry& entry : layout.entries())
    ranges_.push_back({entry.parameter.offset, entry.parameter.size(), entry.decays});
}

double clip(Gradients& gradients, double max_norm) {
  const Real* g = gradients.flat.data();
  const double norm = std::sqrt(kernels().dot(g, g, gradients.flat.size()));
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

}  // namespace posbench::inline POSBENCH_REAL
