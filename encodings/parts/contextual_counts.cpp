#include "encodings/parts/contextual_counts.h"

#include <algorithm>

namespace posbench::inline POSBENCH_REAL {
namespace {

/// Calls f(j, p, base) for each block of kLanes keys from j on, the last block first. p are the clamped counts
/// p(j), p(j + 1), ...; base is a whole number with base <= p <= base + kLanes. Lanes beyond the last key have
/// a p of at least base.
template <class F>
void for_each_count(const GatedQuery& query, F f) {
  const Real last = static_cast<Real>(query.rows - 1);
  Real sum = 0;
  for (Index j = (query.keys - 1) / kLanes * kLanes; j >= 0; j -= kLanes) {
    const Lanes sums = sum + suffix_sums(load(query.gates + j, std::min(kLanes, query.keys - j), 0));
    f(j, sums < last ? sums : Lanes{} + last, static_cast<Index>(sum < last ? sum : last));
    sum = sums[0];
  }
}

/// z at the counts p, interpolated between whole counts.
struct Interpolation {
  Interpolation(const Real* z, Lanes p, Index base) {
    const Lanes from_base = p - static_cast<Real>(base);
    const IntLanes n = truncated(from_base);
    fraction = from_base - __builtin_convertvector(n, Lanes);
    below = gather(z + base, n);
    above = fraction == 0 ? below : gather(z + base, n + 1);  // no row follows a clamped count
  }
  Lanes value() const { return fused(fraction, slope(), below); }
  Lanes slope() const { return above - below; }  // 0 at whole counts, so at clamped ones too

  Lanes fraction, below, above;
};

/// d_z[n] += (1 - f) d,   d_z[n + 1] += f d   for each lane of p = n + f. Both are d times the weight of an entry
/// in the interpolation, max(0, 1 - |p - entry|), which is computed for all entries near p.
void scatter_gradient(Lanes p, Lanes d, Real* d_z) {
  Real at[kLanes], value[kLanes];
  store(p, at);
  store(d, value);
  Lanes low{}, high{};
  const auto weight = [](Lanes difference) { return larger(1 - magnitude(difference), Lanes{}); };
  for (Index n = 0; n < kLanes; ++n) low = fused(weight(at[n] - lane_indices()), value[n], low);
  store(load(d_z) + low, d_z);
  if (at[0] <= kLanes - 1) return;
  for (Index n = 0; n < kLanes; ++n) {
    high = fused(weight(at[n] - static_cast<Real>(kLanes) - lane_indices()), value[n], high);
  }
  store(load(d_z + kLanes) + high, d_z + kLanes);
}

/// Replaces the gradient of the counts by that of the gates' logits. g(m) is a term of p(j) for every j <= m:
/// d_g(m) = d_p(0) + ... + d_p(m),   d_logits[m] = d_g(m) g(m) (1 - g(m)).
void counts_backward(const GatedQuery& query, Real* d_logits) {
  Real sum = 0;
  for_each_lanes(query.keys, [&](Index m, Index count) {
    const Lanes sums = sum + prefix_sums(load(d_logits + m, count, 0)), gate = load(query.gates + m, count, 0);
    store(sums * gate * (1 - gate), d_logits + m, std::min(kLanes, query.length - m));
    sum = sums[kLanes - 1];
  });
  const Index after = (query.keys + kLanes - 1) / kLanes * kLanes;
  if (after < query.length) std::fill_n(d_logits + after, std::min(query.length - after, kBand), Real(0));
}

}  // namespace

void count_gates(const GatedQuery& query, Real* counts) {
  for_each_count(query,
                 [&](Index j, Lanes p, Index) { store(p, counts + j, std::min(kLanes, query.length - j)); });
}

void add_position_scores(const GatedQuery& query, Real* scores) {
  for_each_count(query, [&](Index j, Lanes p, Index base) {
    const Interpolation interpolation(query.position_scores, p, base);
    const Index count = std::min(kLanes, query.length - j);
    store(load(scores + j, count, 0) + interpolation.value(), scores + j, count);
  });
}

void position_scores_backward(const GatedQuery& query, const Real* d_scores, Real* d_z, Real* d_logits) {
  std::fill_n(d_z, std::min(query.rows + kCountPadding, query.keys + 1 + kBand + kCountPadding), Real(0));
  for_each_count(query, [&](Index j, Lanes p, Index base) {
    const Lanes d = load(d_scores + j, std::min(kLanes, query.keys - j), 0);
    // d_p(j) = d_scores[j] (z(n + 1) - z(n)), or 0 where p(j) is clamped
    const Lanes d_counts = d * Interpolation(query.position_scores, p, base).slope();
    store(d_counts, d_logits + j, std::min(kLanes, query.length - j));
    scatter_gradient(p - static_cast<Real>(base), d, d_z + base);
  });
  counts_backward(query, d_logits);
}

}  // namespace posbench::inline POSBENCH_REAL
