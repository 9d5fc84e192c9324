// Equations of the encodings in encodings/bias_by_distance.
#include <algorithm>
#include <cmath>

#include "tests/encodings/equations/equations.h"

namespace posbench::equations {
namespace {

const RegisterEquation alibi("alibi", Stage::score, [](const Case& c, int h, int i, int j) {
  return c.dot(h, i, j) - std::exp2(-8.0 * (h + 1) / c.H) * std::abs(i - j);
});

const RegisterEquation bam("bam", Stage::score, [](const Case& c, int h, int i, int j) {
  return c.dot(h, i, j) -
         std::exp(c.learned("bam.scale", 0, h)) * std::pow(std::abs(j - i) + 1e-5, c.learned("bam.shape", 0, h));
});

double bam_with_centre(const Case& c, int h, int i, int j) {
  const double m = c.learned("bam.centre", 0, h), away = j - i - (std::exp(m) - std::exp(-m));
  return c.dot(h, i, j) -
         std::exp(c.learned("bam.scale", 0, h)) * std::pow(std::abs(away) + 1e-5, c.learned("bam.shape", 0, h));
}
const RegisterEquation row_bam_with_centre("bam:centre=true", Stage::score, bam_with_centre);

const RegisterEquation fire("fire", Stage::score, [](const Case& c, int h, int i, int j) {
  const double slope = std::abs(c.learned("fire.c.1", 0, 0));
  const double reach = std::max<double>(std::max(i, j), std::abs(c.learned("fire.mu.1", 0, 0) * 6));
  const double side = j > i ? -1 : 1;
  const double xi = side * std::log(slope * std::abs(i - j) + 1) / (std::log(slope * reach + 1) + 1e-6);
  double bias = c.learned("fire.b2.1", 0, h);
  for (int m = 0; m < 32; ++m) {
    const double hidden = xi * c.learned("fire.w1.1", 0, m) + c.learned("fire.b1.1", 0, m);
    bias += std::max(hidden, 0.0) * c.learned("fire.w2.1", m, h);
  }
  return c.dot(h, i, j) + bias;
});

const RegisterEquation hard_alibi("hard_alibi", Stage::score, [](const Case& c, int h, int i, int j) {
  return h < 2 && i - j > h ? -INFINITY : c.dot(h, i, j);
});

const RegisterEquation kerple_log("kerple_log", Stage::score, [](const Case& c, int h, int i, int j) {
  const double r1 = c.learned("kerple_log.r1", 0, h), r2 = c.learned("kerple_log.r2", 0, h);
  return c.dot(h, i, j) - r1 * std::log(1 + r2 * std::abs(i - j));
});

double kerple_power(const Case& c, int h, int i, int j) {
  const double r1 = c.learned("kerple_power.r1", 0, h), r2 = c.learned("kerple_power.r2", 0, h);
  return c.dot(h, i, j) - (i == j ? 0 : r1 * std::exp(r2 * std::log(std::abs(i - j))));
}
const RegisterEquation row_kerple_power("kerple_power", Stage::score, kerple_power);

const RegisterEquation nape("nape", Stage::score, [](const Case& c, int h, int i, int j) {
  return c.dot(h, i, j) - (h < 2 ? (i - j) / (h + 1.0) : 0);
});

const RegisterEquation sandwich("sandwich", Stage::score, [](const Case& c, int h, int i, int j) {
  double inner = 0;  // product of the two embeddings of width 128
  for (int m = 0; m < 64; ++m) {
    const double w = std::pow(10000.0, -m / 64.0);
    inner += std::sin(i * w) * std::sin(j * w) + std::cos(i * w) * std::cos(j * w);
  }
  return c.dot(h, i, j) + (inner - 64) / (8.0 * (h + 1) / c.H);
});

const RegisterEquation t5_bias("t5_bias", Stage::score, [](const Case& c, int h, int i, int j) {
  return c.dot(h, i, j) + c.learned("t5_bias.table", t5_bucket(i - j, c.causal), h);
});

}  // namespace
}  // namespace posbench::equations
