// AdamW (Loshchilov and Hutter 2019, arXiv:1711.05101).
//
//   m = m + (1 - beta1) (g - m),   v = v + (1 - beta2) (g^2 - v)
//   p = keep p - rate m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon),   keep: weight decay
#include "model/optimizer.h"

namespace posbench {
namespace {

class AdamW final : public Optimizer {
 public:
  AdamW(const OptimizerOptions& options, const ParameterLayout& layout)
      : options_(options), weight_decay_(options.weight_decay, options.decayed_parameters, layout) {}

  OptimizerState initial_state(const ParameterLayout& layout) const override {
    return {.tensors = {{"mean", Parameters(layout)}, {"square", Parameters(layout)}},
            .scalars = {{"beta1_power", 1}, {"beta2_power", 1}}};
  }

  void step(const Gradients& gradients, double learning_rate, OptimizerState& state,
            Parameters& parameters) const override {
    auto mean = state.tensors.at("mean").flat.array(), square = state.tensors.at("square").flat.array();
    const double beta1_power = state.scalars.at("beta1_power") *= options_.beta1;
    const double beta2_power = state.scalars.at("beta2_power") *= options_.beta2;
    const Real beta1 = static_cast<Real>(options_.beta1), beta2 = static_cast<Real>(options_.beta2);
    const Real rate = static_cast<Real>(learning_rate / (1 - beta1_power));
    const Real correction = static_cast<Real>(1 / (1 - beta2_power)),
               epsilon = static_cast<Real>(options_.epsilon);
    const auto g = gradients.flat.array();
    mean += (1 - beta1) * (g - mean);
    square += (1 - beta2) * (g.square() - square);
    weight_decay_.for_each_range(learning_rate, [&](Real keep, Index offset, Index size) {
      auto p = parameters.flat.segment(offset, size).array();
      const auto m = mean.segment(offset, size), v = square.segment(offset, size);
      p = keep * p - rate * m / ((v * correction).sqrt() + epsilon);
    });
  }

 private:
  OptimizerOptions options_;
  WeightDecay weight_decay_;
};

}  // namespace

std::unique_ptr<const Optimizer> make_adamw(const OptimizerOptions& options, const ParameterLayout& layout) {
  return std::make_unique<AdamW>(options, layout);
}

}  // namespace posbench
