// Equations of the encodings in encodings/absolute.
#include <cmath>

#include "tests/encodings/equations/equations.h"

namespace posbench::equations {
namespace {

const RegisterEquation learned_abs("learned_abs", Stage::embed, [](const Case& c, int, int t, int channel) {
  return c.learned("learned_abs.table", t, channel);
});

const RegisterEquation axial("learned_abs:axial=true", Stage::embed, [](const Case& c, int, int t, int channel) {
  return c.learned("learned_abs.table.0", c.sequence.coordinates[0][t], channel) +
         c.learned("learned_abs.table.1", c.sequence.coordinates[1][t], channel);
});

const RegisterEquation none("none");

double sinusoidal(const Case& c, int, int t, int channel) {
  const double angle = t * std::pow(10000.0, -static_cast<double>(channel / 2 * 2) / c.C);
  return channel % 2 == 0 ? std::sin(angle) : std::cos(angle);
}
const RegisterEquation row_sinusoidal("sinusoidal", Stage::embed, sinusoidal);

}  // namespace
}  // namespace posbench::equations
