#include "model/optimizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "model/kernels.h"

namespace posbench::inline POSBENCH_REAL {

namespace {

/// Returns "optimizer. adamw: AdamW; ...", with the summary and the options of each registered one.
std::string optimizer_help() {
  std::vector<std::string> known;
  for (const std::string& name : optimizers().names()) {
    const OptimizerEntry& entry = optimizers().find(name);
    std::string text = fmt::format("{}: {}", name, entry.summary);
    for (const OptionInfo& option : entry.options)
      text += fmt::format("; its option {} ({}, default {}): {}", option.name, option.expected, option.value,
                          option.help);
    known.push_back(text);
  }
  return fmt::format("optimizer. {}", fmt::join(known, "; "));
}

}  // namespace

const EnumNames<DecayedParameters>& names_of(DecayedParameters) {
  static const EnumNames<DecayedParameters> names{{DecayedParameters::matrices, "matrices"},
                                                  {DecayedParameters::all, "all"}};
  return names;
}

const EnumNames<Decay>& names_of(Decay) {
  static const EnumNames<Decay> names{
      {Decay::cosine, "cosine"}, {Decay::linear, "linear"}, {Decay::constant, "constant"}};
  return names;
}

void OptimizerOptions::describe(OptionTable& o) {
  o.entry("optimizer", optimizer, optimizers(), optimizer_help());
  o.omit_default();
  o.number("momentum", momentum, 0, 0.9999999, "momentum of sgd");
  o.omit_default();
  o.number("weight_decay", weight_decay, 0, 1,
           "decoupled weight decay: parameters shrink by learning_rate x weight_decay");
  o.choice("decayed_parameters", decayed_parameters, names_of(decayed_parameters),
           "parameters with weight decay: matrices, without biases, gains and embeddings, or all");
  o.omit_default();
  o.number("beta1", beta1, 0, 0.9999999, "decay of AdamW's mean gradient");
  o.number("beta2", beta2, 0, 0.9999999, "decay of AdamW's mean squared gradient");
  o.number("epsilon", epsilon, 1e-12, 1, "AdamW's addition to the denominator");
}

Registry<OptimizerEntry>& optimizers() {
  static Registry<OptimizerEntry> registry{"optimizer", nullptr, "posbench show training.optimizer"};
  return registry;
}

void register_optimizer(OptimizerEntry entry) {
  register_or_exit([&] {
    require_field("optimizer", entry.name, "summary", !entry.summary.empty());
    const std::string name = entry.name;
    optimizers().add(name, std::move(entry));
  });
}

std::unique_ptr<const Optimizer> make_optimizer(const OptimizerOptions& options, const ParameterLayout& layout) {
  return optimizers().find(options.optimizer.name).make(options, layout);
}

WeightDecay::WeightDecay(double weight_decay, DecayedParameters which, const ParameterLayout& layout,
                         bool (*takes)(const ParameterLayout::Entry&))
    : weight_decay_(weight_decay) {
  const bool alike = weight_decay == 0 || which == DecayedParameters::all;
  if (alike && !takes) {
    ranges_.push_back({0, layout.flat_size(), true});
    return;
  }
  for (const ParameterLayout::Entry& entry : layout.entries()) {
    if (!takes || takes(entry))
      ranges_.push_back({entry.parameter.offset, entry.parameter.size(), alike || entry.decays});
  }
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
