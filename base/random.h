// Draws random numbers that are the same on every machine. The C++ standard specifies std::mt19937_64 exactly, but
// not the distributions, which differ between libraries.
#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace posbench {

using Rng = std::mt19937_64;

/// Returns a hash in which every input bit affects every output bit: the finalizer of SplitMix64 (Steele, Lea,
/// Flood 2014).
std::uint64_t hash64(std::uint64_t);

/// Returns the generator of a seed, a purpose ("train", "test:ood_sparse", a parameter's name) and an index.
/// Different arguments give unrelated streams.
Rng make_rng(std::uint64_t seed, std::string_view purpose, std::uint64_t index = 0);

/// Draws uniformly from low..high, both ends included.
int uniform(Rng&, int low, int high);

/// Draws uniformly from [0, 1).
double uniform_real(Rng&);

/// Returns true with probability p.
bool bernoulli(Rng&, double p);

/// Draws from the normal distribution with mean 0 and standard deviation 1.
double normal(Rng&);

/// Draws `count` ids, independent and uniform over low..high, both ends included.
std::vector<int> uniform_tokens(Rng&, int count, int low, int high);

/// Draws `count` distinct integers from 0..n-1, in ascending order; every set is equally likely.
std::vector<int> sample_distinct(Rng&, int n, int count);

/// Shuffles `items` uniformly.
template <class T>
void shuffle(std::span<T> items, Rng& rng) {
  for (size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[uniform(rng, 0, static_cast<int>(i) - 1)]);
}

}  // namespace posbench
