// Equations of the encodings in encodings/index_remap.
#include "tests/encodings/equations/equations.h"

namespace posbench::equations {
namespace {

const RegisterEquation abacus("abacus", Stage::embed, [](const Case& c, int, int t, int channel) {
  return c.learned("abacus.table", c.sequence.digit_positions[t], channel);
});

// The positions of the case have two coordinates.
const RegisterEquation coupled("coupled", Stage::embed, [](const Case& c, int, int t, int channel) {
  return c.learned("coupled.table.0", c.sequence.coordinates[0][t], channel) +
         c.learned("coupled.table.1", c.sequence.coordinates[1][t], channel);
});

const RegisterEquation coupled_shared("coupled:shared=true", Stage::embed,
                                      [](const Case& c, int, int t, int channel) {
                                        return c.learned("coupled.table", c.sequence.coordinates[0][t], channel) +
                                               c.learned("coupled.table", c.sequence.coordinates[1][t], channel);
                                      });

}  // namespace
}  // namespace posbench::equations
