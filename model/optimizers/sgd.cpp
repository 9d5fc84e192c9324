// Defines stochastic gradient descent with momentum (Polyak 1964; Sutskever et al. 2013), as PyTorch's SGD
// computes it, but with decoupled weight decay.
//
//   velocity = momentum velocity + g,   p = keep p - rate velocity,   keep as in WeightDecay
#include "model/optimizer.h"

namespace posbench::sgd {
namespace {

class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerOptions& options, const ParameterLayout& layout)
      : momentum_(static_cast<Real>(options.momentum)),
        weight_decay_(options.weight_decay, options.decayed_parameters, layout) {}

  OptimizerState initial_state(const ParameterLayout& layout) const override {
    return {.tensors = {{"velocity", Parameters(layout)}}, .scalars = {}};
  }

  void step(const Gradients& gradients, double learning_rate, OptimizerState& state,
            Parameters& parameters) const override {
    auto velocity = state.tensors.at("velocity").flat.array();
    velocity = momentum_ * velocity + gradients.flat.array();
    weight_decay_.for_each_range(learning_rate, [&](Real keep, Index offset, Index size) {
      auto p = parameters.flat.segment(offset, size).array();
      p = keep * p - static_cast<Real>(learning_rate) * velocity.segment(offset, size);
    });
  }

 private:
  Real momentum_;
  WeightDecay weight_decay_;
};

const RegisterOptimizer<Sgd> registered{
    {.name = "sgd", .summary = "stochastic gradient descent with momentum", .has_momentum = true}};

}  // namespace
}  // namespace posbench::sgd
