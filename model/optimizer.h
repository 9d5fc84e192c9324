// Defines optimizers, the schedule of the learning rate, and clipping. Each optimizer has a file in
// model/optimizers, which registers the name that training.optimizer has for it.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/enum_names.h"
#include "base/registry.h"
#include "model/parameters.h"

namespace posbench::inline POSBENCH_REAL {

/// The values that an optimizer keeps between updates, by name, so that checkpoints need not know the optimizer.
struct OptimizerState {
  std::map<std::string, Parameters> tensors;  // one value for each parameter: moving averages, velocities
  std::map<std::string, double> scalars;
};

/// Computes updates of parameters. Everything that it keeps between updates is in the state.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual OptimizerState initial_state(const ParameterLayout&) const = 0;
  virtual void step(const Gradients&, double learning_rate, OptimizerState&, Parameters&) const = 0;
};

/// The parameters that weight decay shrinks: matrices, without biases, gains and embeddings; or all.
enum class DecayedParameters { matrices, all };
const EnumNames<DecayedParameters>& names_of(DecayedParameters);

/// The settings of the update that a user gives. `describe` states their names, ranges and meanings.
struct OptimizerOptions {
  Spec optimizer{"adamw", {}};  // a registered one
  double momentum = 0.9;        // of SGD
  double weight_decay = 0;
  DecayedParameters decayed_parameters = DecayedParameters::matrices;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // of AdamW
  void describe(OptionTable&);
};

/// An optimizer, which training.optimizer names.
struct OptimizerEntry {
  std::string name;
  std::string summary;        // for the help text of training.optimizer
  bool has_momentum = false;  // reads OptimizerOptions::momentum
  std::unique_ptr<const Optimizer> (*make)(const OptimizerOptions&, const ParameterLayout&) = nullptr;
  Spec (*canonical_form)(const Spec&) = [](const Spec& spec) {
    return make_canonical<NoOptions>(spec, "optimizer");
  };
  std::vector<OptionInfo> options = {};

  Spec canonical(const Spec& spec) const { return canonical_form(spec); }
};

/// Returns the registry of all optimizers that are linked in.
Registry<OptimizerEntry>& optimizers();
/// Adds the optimizer to the registry. Ends the program, as other registrations do, if it lacks a field.
void register_optimizer(OptimizerEntry);

/// Registers the optimizer O, which is constructed from (const OptimizerOptions&, const ParameterLayout&). Options
/// that it alone has are O::Options, which OptimizerOptions::optimizer contains.
template <class O>
struct RegisterOptimizer {
  explicit RegisterOptimizer(OptimizerEntry entry) {
    if constexpr (requires { typename O::Options; }) {
      entry.canonical_form = [](const Spec& spec) {
        return make_canonical<typename O::Options>(spec, "optimizer");
      };
      entry.options = list_options<typename O::Options>();
    }
    entry.make = [](const OptimizerOptions& options,
                    const ParameterLayout& layout) -> std::unique_ptr<const Optimizer> {
      return std::make_unique<O>(options, layout);
    };
    register_optimizer(std::move(entry));
  }
};

std::unique_ptr<const Optimizer> make_optimizer(const OptimizerOptions&, const ParameterLayout&);

/// Decoupled weight decay (Loshchilov and Hutter 2019, arXiv:1711.05101): an update is p = keep p - ..., with
/// keep = 1 - learning_rate weight_decay for parameters that decay and keep = 1 for others.
class WeightDecay {
 public:
  /// `takes` selects the parameters of an optimizer that leaves others to another one; null: all.
  WeightDecay(double weight_decay, DecayedParameters, const ParameterLayout&,
              bool (*takes)(const ParameterLayout::Entry&) = nullptr);

  /// Calls f(keep, offset, size) for ranges that cover the parameters.
  template <class F>
  void for_each_range(double learning_rate, F f) const {
    const Real keep = static_cast<Real>(1 - learning_rate * weight_decay_);
    for (const Range& range : ranges_) f(range.decays ? keep : Real(1), range.offset, range.size);
  }

 private:
  struct Range {
    Index offset, size;
    bool decays;
  };
  double weight_decay_;
  std::vector<Range> ranges_;
};

/// Scales the gradient to at most this Euclidean norm. Returns its norm before that.
double clip(Gradients&, double max_norm);

enum class Decay { cosine, linear, constant };
const EnumNames<Decay>& names_of(Decay);

/// Returns the fraction of the peak learning rate at this step out of `steps`. It rises linearly during the
/// warm-up and then falls to 0, or stays 1 if `Decay` is constant.
double schedule(Decay, int step, int steps, int warm_up);

}  // namespace posbench::inline POSBENCH_REAL
