// Defines AdamW (Loshchilov and Hutter 2019, arXiv:1711.05101).
//
//   m = m + (1 - beta1) (g - m),   v = v + (1 - beta2) (g^2 - v)
//   p = keep p - rate m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon),   keep as in WeightDecay
#include "model/optimizers/adamw.h"

#include "model/lanes.h"

namespace posbench::inline POSBENCH_REAL::adamw {

OptimizerState AdamW::initial_state(const ParameterLayout& layout) const {
  return {.tensors = {{"mean", Parameters(layout)}, {"square", Parameters(layout)}},
          .scalars = {{"beta1_power", 1}, {"beta2_power", 1}}};
}

void AdamW::step(const Gradients& gradients, double learning_rate, OptimizerState& state,
                 Parameters& parameters) const {
  Real *mean = state.tensors.at("mean").flat.data(), *square = state.tensors.at("square").flat.data();
  const double beta1_power = state.scalars.at("beta1_power") *= options_.beta1;
  const double beta2_power = state.scalars.at("beta2_power") *= options_.beta2;
  const Real beta1 = static_cast<Real>(options_.beta1), beta2 = static_cast<Real>(options_.beta2);
  const Real rate = static_cast<Real>(learning_rate / (1 - beta1_power));
  const Real correction = static_cast<Real>(1 / (1 - beta2_power)), epsilon = static_cast<Real>(options_.epsilon);
  const Real* gradient = gradients.flat.data();
  Real* parameter = parameters.flat.data();
  weight_decay_.for_each_range(learning_rate, [&](Real keep, Index offset, Index size) {
    for_each_lanes(size, [&](Index first, Index count) {
      const Index n = offset + first;
      const Lanes g = load(gradient + n, count, 0);
      const Lanes m = load(mean + n, count, 0), v = load(square + n, count, 0);
      const Lanes new_m = fused(g - m, 1 - beta1, m), new_v = fused(fused(g, g, -v), 1 - beta2, v);
      store(new_m, mean + n, count);
      store(new_v, square + n, count);
      const Lanes step = rate * new_m / (square_root(new_v * correction) + epsilon);
      store(fused(load(parameter + n, count, 0), keep, -step), parameter + n, count);
    });
  });
}

namespace {

const RegisterOptimizer<AdamW> registered{{.name = "adamw", .summary = "AdamW"}};

}  // namespace
}  // namespace posbench::inline POSBENCH_REAL::adamw
