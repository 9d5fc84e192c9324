#include "encodings/parts/distances.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/attention.h"

namespace posbench::inline POSBENCH_REAL {

bool uniformly_spaced(const Positions& positions) {
  const std::vector<Real>& at = positions.at;
  if (positions.sampled_distances || at.size() < 2) return true;
  const Real step = at[1] - at[0];
  for (size_t t = 2; t < at.size(); ++t) {
    if (at[t] - at[t - 1] != step) return false;
  }
  return step > 0;
}

void distinct_distances(const Positions& positions, bool causal, Matrix& distances, IndexMatrix& index) {
  const Index T = positions.size();
  index.resize(T, T);
  index.setZero();
  if (uniformly_spaced(positions)) {
    const Index before = causal ? 0 : T - 1;  // number of negative distances
    distances.resize(1, before + T);
    for (Index n = 0; n < before; ++n) distances(0, n) = positions.distance(0, before - n);
    for (Index n = 0; n < T; ++n) distances(0, before + n) = positions.distance(n, 0);
    for (Index i = 0; i < T; ++i) {
      for (Index j = 0; j < num_visible_keys(i, T, causal); ++j)
        index(i, j) = static_cast<std::int32_t>(before + i - j);
    }
    return;
  }
  std::vector<Real> all;
  for (Index i = 0; i < T; ++i) {
    for (Index j = 0; j < num_visible_keys(i, T, causal); ++j) all.push_back(positions.distance(i, j));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  distances.resize(1, static_cast<Index>(all.size()));
  std::copy(all.begin(), all.end(), distances.data());
  for (Index i = 0; i < T; ++i) {
    for (Index j = 0; j < num_visible_keys(i, T, causal); ++j) {
      const auto found = std::lower_bound(all.begin(), all.end(), positions.distance(i, j));
      index(i, j) = static_cast<std::int32_t>(found - all.begin());
    }
  }
}

}  // namespace posbench::inline POSBENCH_REAL
