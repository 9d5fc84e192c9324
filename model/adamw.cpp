#include "model/adamw.h"

#include <cmath>
#include <numbers>

#include "model/kernels.h"

namespace posbench {

void AdamW::step(const Gradients& gradients, double learning_rate, Parameters& parameters) {
  auto& [mean, square, beta1_power, beta2_power] = state;
  beta1_power *= options_.beta1;
  beta2_power *= options_.beta2;
  const Real beta1 = static_cast<Real>(options_.beta1), beta2 = static_cast<Real>(options_.beta2);
  const Real rate = static_cast<Real>(learning_rate / (1 - beta1_power));
  const Real correction = static_cast<Real>(1 / (1 - beta2_power)), epsilon = static_cast<Real>(options_.epsilon);
  const Real keep = static_cast<Real>(1 - learning_rate * options_.weight_decay);

  const auto g = gradients.flat.array();
  mean.flat.array() += (1 - beta1) * (g - mean.flat.array());
  square.flat.array() += (1 - beta2) * (g.square() - square.flat.array());
  parameters.flat.array() = keep * parameters.flat.array() -
                            rate * mean.flat.array() / ((square.flat.array() * correction).sqrt() + epsilon);
}

double clip(Gradients& gradients, double most) {
  const Real* g = gradients.flat.data();
  const double norm = std::sqrt(kernels().dot(g, g, gradients.flat.size()));
  if (norm > most) gradients.flat *= static_cast<Real>(most / norm);
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
