#include "encodings/parts/kerple.h"

#include <cmath>
#include <string>

namespace posbench::inline POSBENCH_REAL {
namespace {

constexpr Real kMin = 0.01;

}  // namespace

Kerple::Kerple(const std::string& name, const Options& options, Range r1, Range r2, const ModelConfig& config,
               ParameterLayout& layout)
    : DistanceBias(config), range1_(r1), range2_(r2) {
  const Index sets = options.per_layer ? config.layers : 1;
  r1_ = layout.no_decay(layout.uniform(name + ".r1", sets, config.heads, 0, r1.high));
  r2_ = layout.no_decay(layout.uniform(name + ".r2", sets, config.heads, 0, r2.high));
}

void Kerple::constrain(Parameters& p) const {
  p[r1_] = p[r1_].cwiseMax(kMin).cwiseMin(static_cast<Real>(range1_.max));
  p[r2_] = p[r2_].cwiseMax(kMin).cwiseMin(static_cast<Real>(range2_.max));
}

void Kerple::values(const Parameters& p, const In& distances, Out values) const {
  const auto r1 = p[r1_], r2 = p[r2_];
  for (Index n = 0; n < values.rows(); ++n) {
    for (Index m = 0; m < distances.cols(); ++m) {
      values(n, m) = kernel(r1.data()[n], r2.data()[n], std::abs(distances(0, m))).kernel;
    }
  }
}

void Kerple::values_backward(const Parameters& p, const In& distances, const In& d_values, Gradients& d) const {
  const auto r1 = p[r1_], r2 = p[r2_];
  auto d_r1 = d[r1_], d_r2 = d[r2_];
  for (Index n = 0; n < d_values.rows(); ++n) {
    for (Index m = 0; m < distances.cols(); ++m) {
      const Value value = kernel(r1.data()[n], r2.data()[n], std::abs(distances(0, m)));
      d_r1.data()[n] += d_values(n, m) * value.d_r1;
      d_r2.data()[n] += d_values(n, m) * value.d_r2;
    }
  }
}

EncodingInfo kerple_info(EncodingInfo info) {
  info.family = Family::bias_by_distance;
  info.source = "Chi et al. 2022, arXiv:2205.09921, section 4; chijames/KERPLE";
  info.notes +=
      " Bounds are projections after every update, as in the code. All layers share one pair, as in the code; "
      "DAPE's repository has one for each layer (per_layer=true). The code's optional factor on the scores, "
      "exp(-a d^p), is left out. With few heads the random starts may lie close together. The paper is causal; "
      "in a bidirectional model the kernel cannot tell left from right.";
  info.learned = true;
  info.takes_positions = TakesPositions::distances;
  info.extrapolates = Extrapolation::yes;
  info.relative = Relative::yes;
  info.content_dependent = "no";
  info.distance_decay = DistanceDecay::yes;
  info.variants = {"per_layer=true"};
  return info;
}

}  // namespace posbench::inline POSBENCH_REAL
