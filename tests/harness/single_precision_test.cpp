// What differs between the float that trains and the double that the other tests of the model run in.
#include <limits>

#include "model/lanes.h"
#include "tests/catch.h"

using namespace posbench;

TEST_CASE("the exponential of floats is right to two units in the last place, and zero where floats end") {
  const auto e = [](float x) { return exponential(Lanes{} + x)[0]; };
  double worst = 0;
  for (float x = -87; x <= 88; x += 0.0137f) {
    const double exact = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::abs(e(x) - exact) / exact);
  }
  CHECK(worst < 2.4e-7);
  CHECK(e(0) == 1);
  CHECK(e(-87.5f) == 0);
  CHECK(e(-std::numeric_limits<float>::infinity()) == 0);
  CHECK(std::isnan(e(std::numeric_limits<float>::quiet_NaN())));
}
