#include "encodings/parts/distance_bias.h"

#include "encodings/parts/distances.h"

namespace posbench::inline POSBENCH_REAL {

void DistanceBias::bias(const Parameters& p, const Positions& positions, Matrices& bias) const {
  Matrix distances;
  IndexMatrix index;
  distinct_distances(positions, config_.causal, distances, index);
  Matrix values(static_cast<Index>(bias.size()), distances.cols());
  this->values(p, distances, values);
  for (size_t n = 0; n < bias.size(); ++n) {
    const Real* value = values.row(static_cast<Index>(n)).data();
    for_each_pair(positions.size(), [&](Index i, Index j) { bias[n](i, j) = value[index(i, j)]; });
  }
}

void DistanceBias::bias_backward(const Parameters& p, const Positions& positions, const Matrices& d_bias,
                                 Gradients& d) const {
  Matrix distances;
  IndexMatrix index;
  distinct_distances(positions, config_.causal, distances, index);
  Matrix d_values(static_cast<Index>(d_bias.size()), distances.cols());
  d_values.setZero();
  for (size_t n = 0; n < d_bias.size(); ++n) {
    Real* d_value = d_values.row(static_cast<Index>(n)).data();
    for_each_pair(positions.size(), [&](Index i, Index j) { d_value[index(i, j)] += d_bias[n](i, j); });
  }
  values_backward(p, distances, d_values, d);
}

}  // namespace posbench::inline POSBENCH_REAL
