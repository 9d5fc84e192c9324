// Optimizers, the schedule of their learning rate, and clipping. What an optimizer computes stands in a file of
// its own, its name in OptimizerKind.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/parameters.h"

namespace posbench {

/// All that one update leaves to the next, by name: checkpoints store it without knowing the optimizer.
struct OptimizerState {
  std::map<std::string, Parameters> tensors;  // one value for each parameter: moving averages, velocities
  std::map<std::string, double> scalars;
};

/// Computes updates and keeps nothing between them: what lasts is in the state.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual OptimizerState initial_state(const ParameterLayout&) const = 0;
  virtual void step(const Gradients&, double learning_rate, OptimizerState&, Parameters&) const = 0;
};

enum class OptimizerKind { adamw, sgd };
/// Which parameters weight decay shrinks: matrices, without biases, gains and embeddings; or all.
enum class DecayedParameters { matrices, all };

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adamw;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // of AdamW
  double momentum = 0.9;                              // of SGD
  double weight_decay = 0;
  DecayedParameters decayed_parameters = DecayedParameters::all;
};

std::unique_ptr<const Optimizer> make_optimizer(const OptimizerOptions&, const ParameterLayout&);

/// Decoupled weight decay (Loshchilov and Hutter 2019, arXiv:1711.05101): p *= 1 - learning_rate weight_decay,
/// beside the gradient's update.
class WeightDecay {
 public:
  WeightDecay(double weight_decay, DecayedParameters, const ParameterLayout&);
  void apply(double learning_rate, Parameters&) const;

 private:
  double weight_decay_;
  DecayedParameters which_;
  std::vector<Parameter> matrices_;
};

std::unique_ptr<const Optimizer> make_adamw(const OptimizerOptions&, const ParameterLayout&);
std::unique_ptr<const Optimizer> make_sgd(const OptimizerOptions&, const ParameterLayout&);

/// Scales the gradient to at most this Euclidean norm; returns the norm it had.
double clip(Gradients&, double max_norm);

enum class Decay { cosine, linear, constant };

/// The fraction of the peak learning rate at this step out of `steps`: up linearly over the warm-up, then down to
/// 0.
double schedule(Decay, int step, int steps, int warm_up);

}  // namespace posbench
