// Equations of the encodings in encodings/attention_variant.
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <vector>

#include "model/attention.h"
#include "tests/encodings/equations/equations.h"

namespace posbench::equations {
namespace {

/// Returns the angle of RoPE's pair n, which consists of components n and n + D / 2.
double rope_angle(const Case& c, int distance, int n) { return distance * std::pow(10000.0, -2.0 * n / c.D); }

/// Returns the product of row t of `left` and row j of `right`, whose pairs turn by the angle between them.
double turned_product(const Case& c, const Matrix& left, const Matrix& right, int t, int j) {
  double sum = 0;
  for (int n = 0; n < c.D / 2; ++n) {
    const std::complex<double> a(left(t, n), left(t, n + c.D / 2)), b(right(j, n), right(j, n + c.D / 2));
    sum += (a * std::conj(b) * std::polar(1.0, rope_angle(c, t - j, n))).real();
  }
  return sum;
}

/// Returns a channel of output i of a delta rule whose old value at token t is that of a softmax of `logit(t, j)`
/// over j < t, and is subtracted `strength(t)` times.
double delta_rule(const Case& c, int h, int i, int channel, const std::function<double(int, int)>& logit,
                  const std::function<double(int)>& strength) {
  std::vector<double> u;
  double output = 0;
  for (int t = 0; t <= i; ++t) {
    double total = 0, read = 0;
    for (int j = 0; j < t; ++j) {
      total += std::exp(logit(t, j));
      read += std::exp(logit(t, j)) * u[j];
    }
    u.push_back(c.v[h](t, channel) - (t > 0 ? strength(t) * read / total : 0));
    output += c.attention[h](i, t) * u.back();
  }
  return output;
}

double deltaformer_score(const Case& c, int h, int i, int j) {
  return turned(c, true, h, i, j, [&](int n) { return rope_angle(c, i - j, n); });
}
const RegisterEquation row_deltaformer_score("deltaformer", Stage::score, deltaformer_score);

double deltaformer_mix(const Case& c, int h, int i, int channel) {
  return delta_rule(
      c, h, i, channel, [&](int t, int j) { return turned_product(c, c.k[h], c.k[h], t, j) / std::sqrt(c.D); },
      [&](int t) {
        return c.x_dot("deltaformer.strength.1.weight", t, h) + c.learned("deltaformer.strength.1.bias", 0, h);
      });
}
const RegisterEquation row_deltaformer_mix("deltaformer", Stage::mix, deltaformer_mix);

double plain_deltaformer_mix(const Case& c, int h, int i, int channel) {
  return delta_rule(
      c, h, i, channel, [&](int t, int j) { return c.dot(h, t, j); }, [](int) { return 1.0; });
}
const RegisterEquation row_plain_deltaformer_mix("deltaformer:rotary=false,similarity=queries,strength=one",
                                                 Stage::mix, plain_deltaformer_mix);

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
