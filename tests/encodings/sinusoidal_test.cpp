// Tests the angles of sinusoids and rotations beyond the equations.
#include <algorithm>
#include <cmath>
#include <vector>

#include "encodings/parts/rotary.h"
#include "encodings/registry.h"
#include "harness/check/double_precision/certificate.h"
#include "tests/catch.h"

using namespace posbench;

TEST_CASE("YaRN without rounding has the frequencies of gpt-oss") {
  ModelConfig config = small_config(2, true, true);
  config.width = 2 * 64;
  ParameterLayout layout;
  const auto encoding = make_encoding(
      Spec::parse("interpolated:base=(rope:base=150000),method=yarn,scale=32,original=4096,truncate=false"),
      config, layout);
  Tables tables;
  encoding->tables(initialize(layout, 1), Positions{.at = {0, 1}}, tables);
  const Rotations& rotations = tables.constants<Rotations>();
  for (int n = 0; n < 32; ++n) {
    const double ramp = std::clamp((n - 8.092779) / (17.398025 - 8.092779), 0.0, 1.0),
                 w = std::pow(150000, -n / 32.0) * (1 - ramp + ramp / 32);
    CHECK(std::atan2(rotations.sine(1, n), rotations.cosine(1, n)) == Approx(w).epsilon(3e-6));
  }
}

TEST_CASE("rel_sin_bidir:argument=absolute gives the symmetric pattern of an encoder with fixed distances") {
  ParameterLayout layout;
  const auto encoding = make_encoding(Spec::parse("rel_sin_bidir:argument=absolute"),
                                      small_config(2, /*causal=*/false, true), layout);
  Parameters parameters = initialize(layout, 1);
  auto projection = parameters[layout.at("rel_sin_bidir.projection.0")];
  // The weights of sin n, sin 0.1 n and cos n give the pattern at n = 0, 1, 2.
  const std::vector<double> pattern{5.18, -2.58, 1.54, -2.58, 5.18};
  const double at_1 = pattern[1] - pattern[2] * std::cos(1), at_2 = pattern[0] - pattern[2] * std::cos(2),
               determinant = std::sin(1) * std::sin(0.2) - std::sin(2) * std::sin(0.1);
  projection.setZero();
  projection(0, 0) = (at_1 * std::sin(0.2) - at_2 * std::sin(0.1)) / determinant;
  projection(1, 0) = (std::sin(1) * at_2 - std::sin(2) * at_1) / determinant;
  projection(4, 0) = pattern[2];
  Tables tables;
  encoding->tables(parameters, Positions{.at = {0, 1, 2}}, tables);
  for (Index n = 0; n < 5; ++n) CHECK(tables.values[0](n, 0) == Approx(pattern[static_cast<size_t>(n)]));
}
