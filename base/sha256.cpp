#include "base/sha256.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace posbench {
namespace {

using Word = std::uint32_t;

/// Returns the first 32 bits of the fractional parts of a root of the first N primes.
template <size_t N, class Root>
std::array<Word, N> root_fractions(Root root) {
  std::array<Word, N> words{};
  size_t found = 0;
  for (int n = 2; found < N; ++n) {
    bool prime = true;
    for (int d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
    if (!prime) continue;
    const long double value = root(static_cast<long double>(n));
    words[found++] = static_cast<Word>((value - std::floor(value)) * 4294967296.0L);
  }
  return words;
}

void update(std::array<Word, 8>& state, const unsigned char* block) {
  static const auto constants = root_fractions<64>([](long double x) { return std::cbrt(x); });
  std::array<Word, 64> w;
  for (int t = 0; t < 16; ++t) {
    w[t] =
        Word{block[4 * t]} << 24 | Word{block[4 * t + 1]} << 16 | Word{block[4 * t + 2]} << 8 | block[4 * t + 3];
  }
  for (int t = 16; t < 64; ++t) {
    const Word a = w[t - 15], b = w[t - 2];
    w[t] = w[t - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[t - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int t = 0; t < 64; ++t) {
    const Word one =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + constants[t] + w[t];
    const Word two = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
  }
  const std::array<Word, 8> add{a, b, c, d, e, f, g, h};
  for (size_t n = 0; n < 8; ++n) state[n] += add[n];
}

}  // namespace

std::string sha256(std::string_view bytes) {
  std::string padded(bytes);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift & 0xff);
  auto state = root_fractions<8>([](long double x) { return std::sqrt(x); });
  for (size_t at = 0; at < padded.size(); at += 64) {
    update(state, reinterpret_cast<const unsigned char*>(padded.data()) + at);
  }
  std::string text;
  for (const Word word : state) text += fmt::format("{:08x}", word);
  return text;
}

}  // namespace posbench
