// Tests frequencies that the equations do not have.
#include <algorithm>
#include <cmath>

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
