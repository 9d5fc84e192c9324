#include "base/random.h"

#include <cassert>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>
#include <vector>

namespace posbench {

std::uint64_t hash64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

Rng make_rng(std::uint64_t seed, std::string_view purpose, std::uint64_t index) {
  std::uint64_t hash = hash64(seed);
  for (const char c : purpose) hash = hash64(hash ^ static_cast<unsigned char>(c));
  return Rng{hash64(hash ^ hash64(index))};
}

int uniform(Rng& rng, int low, int high) {
  assert(low <= high);
  const std::uint64_t n = static_cast<std::uint64_t>(high) - low + 1;
  std::uint64_t draw = rng();
  // Draws from the largest multiple of n on are redrawn. A draw up to max - n is below it and needs no slow
  // division.
  while (draw > Rng::max() - n && draw >= Rng::max() - Rng::max() % n) draw = rng();
  return low + static_cast<int>(draw % n);
}

double uniform_real(Rng& rng) { return static_cast<double>(rng() >> 11) * 0x1p-53; }

bool bernoulli(Rng& rng, double p) { return uniform_real(rng) < p; }

double normal(Rng& rng) {  // Box and Muller 1958; 1 - u is never 0
  const double radius = std::sqrt(-2 * std::log(1 - uniform_real(rng)));
  return radius * std::cos(2 * std::numbers::pi * uniform_real(rng));
}

std::vector<int> uniform_tokens(Rng& rng, int count, int low, int high) {
  std::vector<int> tokens(count);
  for (int& token : tokens) token = uniform(rng, low, high);
  return tokens;
}

std::vector<int> sample_distinct(Rng& rng, int n, int count) {
  assert(count <= n);
  std::vector<int> chosen;
  chosen.reserve(count);
  for (int i = 0; i < n && count > 0; ++i) {  // selection sampling (Knuth, TAOCP 2, 3.4.2, algorithm S)
    if (uniform(rng, 0, n - i - 1) >= count) continue;
    chosen.push_back(i);
    --count;
  }
  return chosen;
}

}  // namespace posbench
