// Equations of the encodings in encodings/index_remap.
#include "tests/encodings/equations/equations.h"

namespace posbench::equations {
namespace {

const RegisterEquation abacus("abacus", Stage::embed, [](const Case& c, int, int t, int channel) {
  return c.learned("abacus.table", c.sequence.digit_positions[t], channel);
});

const RegisterEquation coupled("coupled", Stage::embed, [](const Case& c, int, int t, int channel) {
  return c.learned("coupled.table", c.sequence.digit_positions[t], channel);
});

}  // namespace
}  // namespace posbench::equations
