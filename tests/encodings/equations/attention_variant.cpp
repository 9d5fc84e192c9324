// Equations of the encodings in encodings/attention_variant.
#include <algorithm>
#include <cmath>

#include "model/attention.h"
#include "tests/encodings/equations/equations.h"

namespace posbench::equations {
namespace {

double geometric_score(const Case& c, int h, int i, int j) {
  const double content = std::sqrt(c.D) * c.dot(h, i, j) * c.learned("geometric.1.alpha", 0, 0);
  if (i == j) return content;
  const int column = c.causal ? h : 2 * h + (j > i);
  return content + c.learned("geometric.1.beta", 0, 0) + c.x_dot("geometric.1.direction.weight", i, column) +
         c.learned("geometric.1.direction.bias", 0, column);
}
const RegisterEquation row_geometric_score("geometric", Stage::score, geometric_score);

double geometric_normalize(const Case& c, int h, int i, int j) {
  const auto match = [&](int key) { return 1 / (1 + std::exp(-c.scores[h](i, key))); };
  const int keys = static_cast<int>(num_visible_keys(i, c.T, c.causal));
  const auto weight = [&](int key) {
    double left = key == i ? 0 : match(key);
    for (int m = 0; m < keys; ++m) {
      const bool nearer = std::abs(m - i) < std::abs(key - i) || (m - i == i - key && m > key);
      if (m != i && nearer) left *= 1 - match(m);
    }
    return left;
  };
  double sum = 0;
  for (int m = 0; m < keys; ++m) sum += weight(m);
  return sum > 0 ? weight(j) / sum : 0;
}
const RegisterEquation row_geometric_normalize("geometric", Stage::normalize, geometric_normalize);

double selective_attn(const Case& c, int h, int i, int j) {
  double masked = 0;
  for (int t = j + 1; t < i && j > 0; ++t) masked += std::max(c.dot(0, t, j), 0.0);
  return c.dot(h, i, j) - masked;
}
const RegisterEquation row_selective_attn("selective_attn", Stage::score, selective_attn);

double stick_breaking(const Case& c, int h, int i, int j) {
  if (j == i) return 0.0;
  double left = 1 / (1 + std::exp(-c.scores[h](i, j)));
  for (int m = j + 1; m < i; ++m) left /= 1 + std::exp(c.scores[h](i, m));
  return left;
}
const RegisterEquation row_stick_breaking("stick_breaking", Stage::normalize, stick_breaking);

}  // namespace
}  // namespace posbench::equations
