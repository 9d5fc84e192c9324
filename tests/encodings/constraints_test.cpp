// Tests the bounds of learned parameters.
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "model/optimizer.h"
#include "model/training_step.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

/// An optimizer that gives all entries of one parameter a value.
class Setter final : public Optimizer {
 public:
  Setter(Parameter parameter, Real value) : parameter_(parameter), value_(value) {}
  OptimizerState initial_state(const ParameterLayout&) const override { return {}; }
  void step(const Gradients&, double, OptimizerState&, Parameters& p) const override {
    p[parameter_].setConstant(value_);
  }

 private:
  Parameter parameter_;
  Real value_;
};

/// Returns a parameter after a training step whose update gives all its entries this value.
EigenMatrix after_update(const std::string& spec, const std::string& name, Real value) {
  ModelConfig config;
  config.vocabulary = 4;
  config.width = 8;
  config.heads = 2;
  config.trained_length = config.longest = 6;
  ParameterLayout layout;
  const auto encoding = make_encoding(Spec::parse(spec), config, layout);
  const Transformer model(config, layout, *encoding);
  Parameters parameters = initialize(layout, 0);
  const Setter optimizer(layout.at(name), value);
  Sequence s;
  s.tokens = {1, 3, 2};
  s.target_positions = {2};
  Rng rng;
  s.positions = encoding->positions(s, rng);
  const std::vector<int> targets{1};
  OptimizerState state;
  TrainingWorkspace workspace(layout);
  const std::vector<LabeledSequence> batch{{s, targets}};
  training_step(
      {model, optimizer, state, parameters, workspace}, batch, [](size_t) { return Rng(); }, 1, 1);
  return parameters[layout.at(name)];
}

}  // namespace

TEST_CASE("an update projects parameters into their range") {
  const auto [spec, name, low, high] = GENERATE(table<std::string, std::string, double, double>({
      {"kerple_log", "kerple_log.r1", 0.01, 9},  // 9: no bound
      {"kerple_log", "kerple_log.r2", 0.01, 9},
      {"kerple_power", "kerple_power.r1", 0.01, 9},
      {"kerple_power", "kerple_power.r2", 0.01, 2},
      {"pope", "pope.delta", -6.283185307179586, 0},
  }));
  INFO(name);
  CHECK(after_update(spec, name, low - 20).isConstant(low));
  CHECK(after_update(spec, name, (low + high) / 2).isConstant((low + high) / 2));
  CHECK(after_update(spec, name, high).isConstant(high));
  if (high < 9) CHECK(after_update(spec, name, high + 20).isConstant(high));
}
