#include "model/optimizer.h"

#include <cmath>

#include "tests/catch.h"

using namespace posbench;

namespace {

ParameterLayout pair_of_scalars() {
  ParameterLayout layout;
  layout.constant("pair", 1, 2, 0);
  return layout;
}

}  // namespace

TEST_CASE("two steps of AdamW agree with results that were computed by hand") {
  const ParameterLayout layout = pair_of_scalars();
  const Parameter pair = layout.entries()[0].parameter;
  Parameters p(layout);
  Gradients g(layout);
  const auto adamw = make_optimizer({.weight_decay = 0.1,
                                     .decayed_parameters = DecayedParameters::all,
                                     .beta1 = 0.9,
                                     .beta2 = 0.99,
                                     .epsilon = 1e-3},
                                    layout);
  OptimizerState state = adamw->initial_state(layout);
  p[pair] << 2, -1;

  // The corrected means are g and g^2:   p - 0.5 (0.1 p + g / (|g| + 0.001))
  g[pair] << 1, -2;
  adamw->step(g, 0.5, state, p);
  CHECK(p[pair](0, 0) == Approx(2 - 0.5 * (0.2 + 1 / 1.001)).epsilon(1e-12));
  CHECK(p[pair](0, 1) == Approx(-1 - 0.5 * (-0.1 - 2 / 2.001)).epsilon(1e-12));

  // m = 0.9 * 0.1 g1 + 0.1 g2 over 1 - 0.81,   v = 0.99 * 0.01 g1^2 + 0.01 g2^2 over 1 - 0.9801
  const double first = p[pair](0, 0), second = p[pair](0, 1);
  g[pair] << 3, 0;
  adamw->step(g, 0.25, state, p);
  CHECK(p[pair](0, 0) ==
        Approx(first - 0.25 * (0.1 * first + (0.39 / 0.19) / (std::sqrt(0.0999 / 0.0199) + 0.001))));
  CHECK(p[pair](0, 1) ==
        Approx(second - 0.25 * (0.1 * second - (0.18 / 0.19) / (std::sqrt(0.0396 / 0.0199) + 0.001))));
}

TEST_CASE("two steps of SGD with momentum agree with results that were computed by hand") {
  const ParameterLayout layout = pair_of_scalars();
  const Parameter pair = layout.entries()[0].parameter;
  Parameters p(layout);
  Gradients g(layout);
  const auto sgd = make_optimizer(
      {.optimizer = {"sgd"}, .momentum = 0.9, .weight_decay = 0.1, .decayed_parameters = DecayedParameters::all},
      layout);
  OptimizerState state = sgd->initial_state(layout);
  p[pair] << 2, -1;
  g[pair] << 1, -2;
  sgd->step(g, 0.5, state, p);  // p - 0.5 (0.1 p + g)
  CHECK(p[pair](0, 0) == Approx(2 * 0.95 - 0.5));
  CHECK(p[pair](0, 1) == Approx(-1 * 0.95 + 1));
  const double first = p[pair](0, 0), second = p[pair](0, 1);
  g[pair] << 3, 0;
  sgd->step(g, 0.1, state, p);  // the velocity is 0.9 g1 + g2
  CHECK(p[pair](0, 0) == Approx(first * 0.99 - 0.1 * 3.9));
  CHECK(p[pair](0, 1) == Approx(second * 0.99 + 0.1 * 1.8));
}

TEST_CASE("weight decay shrinks only matrices, or all parameters") {
  ParameterLayout layout;
  const Parameter matrix = layout.constant("matrix", 2, 2, 1), bias = layout.constant("bias", 1, 2, 1);
  const Parameter table = layout.no_decay(layout.constant("table", 2, 2, 1));
  const auto which = GENERATE(DecayedParameters::matrices, DecayedParameters::all);
  const std::string name = GENERATE(from_range(optimizers().names()));
  const auto optimizer =
      make_optimizer({.optimizer = {name}, .weight_decay = 0.5, .decayed_parameters = which}, layout);
  OptimizerState state = optimizer->initial_state(layout);
  Parameters p = initialize(layout, 0);
  optimizer->step(Gradients(layout), 0.5, state, p);
  const double others = which == DecayedParameters::all ? 0.75 : 1;
  CHECK(p[matrix].isConstant(0.75));
  CHECK(p[bias].isConstant(others));
  CHECK(p[table].isConstant(others));
}

TEST_CASE("clipping scales the gradient to the given norm, and does not change a shorter one") {
  const ParameterLayout layout = pair_of_scalars();
  Gradients g(layout);
  g.flat.head(2) << 3, 4;
  CHECK(clip(g, 10) == 5);
  CHECK(g.flat(0) == 3);
  CHECK(clip(g, 1) == 5);
  CHECK(g.flat(0) == Approx(0.6));
  CHECK(g.flat(1) == Approx(0.8));
}

TEST_CASE("the learning rate warms up linearly to its peak, then decays by the selected schedule") {
  for (const Decay decay : {Decay::cosine, Decay::linear, Decay::constant}) {
    CHECK(schedule(decay, 0, 110, 10) == Approx(0.1));
    CHECK(schedule(decay, 4, 110, 10) == Approx(0.5));
    CHECK(schedule(decay, 9, 110, 10) == Approx(1));
    CHECK(schedule(decay, 10, 110, 10) == Approx(1));
    CHECK(schedule(decay, 0, 110, 0) == Approx(1));
  }
  CHECK(schedule(Decay::cosine, 35, 110, 10) == Approx((1 + std::sqrt(0.5)) / 2));
  CHECK(schedule(Decay::cosine, 60, 110, 10) == Approx(0.5));
  CHECK(schedule(Decay::cosine, 110, 110, 10) == Approx(0).margin(1e-12));
  CHECK(schedule(Decay::linear, 35, 110, 10) == Approx(0.75));
  CHECK(schedule(Decay::linear, 109, 110, 10) == Approx(0.01));
  CHECK(schedule(Decay::constant, 109, 110, 10) == 1);
}

TEST_CASE("a schedule that is all warm-up stays defined") {
  CHECK(schedule(Decay::cosine, 4, 5, 5) == Approx(1));
  CHECK(schedule(Decay::linear, 5, 5, 5) == Approx(1));
}
