// Random numbers that are the same on every machine. The C++ standard specifies std::mt19937_64 exactly but not
// the distributions, which differ between libraries. The few distributions that we need are here.
#pragma once
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace posbench {

using Rng = std::mt19937_64;

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a hash in which every input bit affects every output
/// bit.
std::uint64_t mix(std::uint64_t);

/// The stream that belongs to a seed, a purpose ("train", "test:ood_sparse", a parameter's name) and an index.
/// Different arguments give unrelated streams.
Rng stream(std::uint64_t seed, std::string_view purpose, std::uint64_t index = 0);

/// Uniform over low..high, both ends included.
int uniform(Rng&, int low, int high);

/// Uniform over [0, 1).
double uniform_real(Rng&);

/// True with probability p.
bool chance(Rng&, double p);

/// Normal with mean 0 and standard deviation 1.
double normal(Rng&);

/// `count` ids, independent and uniform over low..high, both ends included.
std::vector<int> uniform_tokens(Rng&, int count, int low, int high);

/// `count` distinct integers out of 0..n-1, ascending, every set equally likely.
std::vector<int> distinct(Rng&, int n, int count);

/// Shuffles `items` uniformly.
template <class T>
void shuffle(std::span<T> items, Rng& rng) {
  for (size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[uniform(rng, 0, static_cast<int>(i) - 1)]);
}

}  // namespace posbench
