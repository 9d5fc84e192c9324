// Tests that a step of k positions rotates the sinusoids by angles that depend on k alone.
#include <cmath>

#include "encodings/registry.h"
#include "harness/check/double_precision/certificate.h"
#include "tests/catch.h"

using namespace posbench;

TEST_CASE("the sinusoids of position p + k are a rotation by k of those of position p") {
  constexpr int kLength = 40;
  const ModelConfig config = small_config(2, true, true);
  ParameterLayout layout;
  const auto encoding = make_encoding(Spec{"sinusoidal", {}}, config, layout);
  const Parameters parameters = initialize(layout, 1);
  Sequence s;
  s.tokens.assign(kLength, 0);
  Rng rng = make_rng(1, "sinusoids");
  s.positions = encoding->positions(s, rng);
  Tables tables;
  Matrices recurrent_state;
  encoding->tables(parameters, s.positions, tables);
  Matrix sinusoids(kLength, config.width);
  sinusoids.setZero();
  encoding->embed(s, parameters, tables, sinusoids, recurrent_state);
  for (const int k : {1, 7}) {
    for (int p = 0; p + k < kLength; ++p) {
      for (int n = 0; n < config.width / 2; ++n) {
        INFO("p " << p << ", k " << k << ", pair " << n);
        const double angle = k * std::pow(10000, -2.0 * n / config.width);
        const double sine = sinusoids(p, 2 * n), cosine = sinusoids(p, 2 * n + 1);
        CHECK(sinusoids(p + k, 2 * n) == Approx(std::cos(angle) * sine + std::sin(angle) * cosine).margin(1e-12));
        CHECK(sinusoids(p + k, 2 * n + 1) ==
              Approx(-std::sin(angle) * sine + std::cos(angle) * cosine).margin(1e-12));
      }
    }
  }
}
