// Equations of the encodings in encodings/two_level.
#include <cmath>

#include "tests/encodings/equations/equations.h"

namespace posbench::equations {
namespace {

/// Returns the number of tokens before t in its segment.
int in_segment(const Case& c, int t) {
  int before = 0;
  while (before < t && c.sequence.segments[t - before - 1] == c.sequence.segments[t]) ++before;
  return before;
}

double bipe_alibi_score(const Case& c, int h, int i, int j) {
  const int segments = std::abs(c.sequence.segments[i] - c.sequence.segments[j]);
  return c.dot(h, i, j) - 96 * std::exp2(-8.0 * (h + 1) / c.H) * segments;
}
const RegisterEquation row_bipe_alibi_score("bipe_alibi", Stage::score, bipe_alibi_score);

const RegisterEquation bipe_alibi_embed("bipe_alibi", Stage::embed, [](const Case& c, int, int t, int channel) {
  return c.learned("bipe_alibi.intra", in_segment(c, t), channel);
});

double bipe_rope_score(const Case& c, int h, int i, int j) {
  const int segments = c.sequence.segments[i] - c.sequence.segments[j];
  return turned(c, false, h, i, j, [&](int n) { return segments * std::pow(10000.0, -2.0 * n / c.D); });
}
const RegisterEquation row_bipe_rope_score("bipe_rope", Stage::score, bipe_rope_score);

const RegisterEquation bipe_rope_embed("bipe_rope", Stage::embed, [](const Case& c, int, int t, int channel) {
  return c.learned("bipe_rope.intra", in_segment(c, t), channel);
});

}  // namespace
}  // namespace posbench::equations
