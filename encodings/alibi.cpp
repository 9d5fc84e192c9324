// ALiBi: a penalty that grows linearly with distance, with a slope for each head.
//
//   score_h(i, j) = q_i . k_j / sqrt(D) - m_h (i - j)
//   m_h           = 2^(-8 (h + 1) / H), h = 0 .. H - 1, where H is a power of two; otherwise the slopes of the
//                   power of two below, then every other one of twice as many
//
// Press et al. 2021, arXiv:2108.12409, section 3; ofirpress/attention_with_linear_biases, which adds m_h j
// instead: equal after the softmax. Beyond the paper, for bidirectional models (option `sides`): `symmetric`, -m_h
// |i - j|, the author's suggestion, which cannot tell left from right; `offset`, whose left side counts half a
// step less (Ruoss et al. 2023, arXiv:2305.16843, code); `split`, half of the heads to either side, the author's
// other suggestion. `learned` makes the logarithm of each slope a parameter, one set for all layers.
#include <cmath>

#include "encodings/parts/additive_bias.h"
#include "model/hidden.h"
#include "encodings/registry.h"
#include "encodings/parts/slopes.h"

namespace posbench {
namespace {

enum class Sides { symmetric, offset, split };

class Alibi final : public AdditiveBias {
 public:
  struct Options {
    Sides sides = Sides::symmetric;
    bool learned = false;
    void describe(OptionTable& o) {
      o.choice("sides", sides, {"symmetric", "offset", "split"},
               "bidirectional models: how left differs from right");
      o.flag("learned", learned, "learn the slopes, from these on");
    }
  };

  Alibi(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : AdditiveBias(shape), options_(options), slopes_(alibi_slopes(shape.heads)) {
    if (options.learned) {
      log_slopes_ = layout.add("alibi.log_slopes", 1, shape.heads,
                               [this](Rng&, Index, Index h) { return std::log(slopes_[h]); });
    }
  }

  void bias(const Parameters& p, const Positions& positions, Matrices& bias) const override {
    for (size_t h = 0; h < bias.size(); ++h) {
      const Real slope = options_.learned ? std::exp(p[log_slopes_](0, h)) : static_cast<Real>(slopes_[h]);
      for_each_pair(positions.size(), [&](Index i, Index j) {
        const Real distance = positions.distance(i, j);
        bias[h](i, j) = hidden(h, distance) ? kHidden : -slope * steps(distance);
      });
    }
  }
  bool learned() const override { return options_.learned; }
  void bias_backward(const Parameters& p, const Positions& positions, const Matrices& d_bias,
                     Gradients& d) const override {
    for (size_t h = 0; h < d_bias.size(); ++h) {
      Real sum = 0;
      for_each_pair(positions.size(), [&](Index i, Index j) {
        const Real distance = positions.distance(i, j);
        if (!hidden(h, distance)) sum -= d_bias[h](i, j) * steps(distance);
      });
      d[log_slopes_](0, h) += sum * std::exp(p[log_slopes_](0, h));
    }
  }

 private:
  /// Distance as the slope counts it; keys on the left have positive distance.
  Real steps(Real distance) const {
    const bool offset = !shape_.causal && options_.sides == Sides::offset && distance > 0;
    return std::abs(distance) - (offset ? Real(0.5) : Real(0));
  }
  bool hidden(size_t h, Real distance) const {
    if (shape_.causal || options_.sides != Sides::split) return false;
    return static_cast<int>(h) < shape_.heads / 2 ? distance < 0 : distance > 0;
  }

  Options options_;
  std::vector<double> slopes_;  // (H)
  Parameter log_slopes_;        // (1, H)
};

const RegisterEncoding<Alibi> registered{{
    .name = "alibi",
    .family = Family::bias_by_distance,
    .equation = "score_h(i, j) = q_i . k_j / sqrt(D) - m_h (i - j),   m_h = 2^(-8 (h + 1) / H)",
    .source = "Press et al. 2021, arXiv:2108.12409; ofirpress/attention_with_linear_biases",
    .notes =
        "The paper is causal; the bidirectional forms are the author's suggestions and Ruoss et al. 2023's code.",
    .touches = "B",
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "no",
    .distance_decay = DistanceDecay::yes,
    .variants = {"learned=true", "sides=offset", "sides=offset,learned=true", "sides=split",
                 "sides=split,learned=true"},
}};

}  // namespace
}  // namespace posbench
