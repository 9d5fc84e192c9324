// ALiBi: a penalty that grows linearly with distance, with a slope for each head.
#include <cmath>
#include <vector>

#include "encodings/parts/additive_bias.h"
#include "encodings/parts/slopes.h"
#include "encodings/registry.h"
#include "model/hidden.h"

namespace posbench::alibi {
namespace {

const EncodingInfo kInfo{
    .name = "alibi",
    .family = Family::bias_by_distance,
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) - m_h (i - j)\n"
        "m_h           = 2^(-8 (h + 1) / H) if H is a power of two; otherwise the slopes of the power of two\n"
        "                below H, then every other slope of twice that power\n"
        "bidirectional: - m_h |i - j|; sides=offset subtracts 1/2 from the distances of keys before the query;\n"
        "               with sides=split each half of the heads sees one side",
    .source = "Press et al. 2021, arXiv:2108.12409, section 3; ofirpress/attention_with_linear_biases",
    .used_in = {"BLOOM", "MPT", "Baichuan-13B"},
    .notes =
        "The code adds m_h j instead, which is equal after the softmax. The paper is causal. The author "
        "suggested the bidirectional forms `symmetric` and `split`; `offset` is that of the code of Ruoss et "
        "al. 2023, arXiv:2305.16843. learned=true makes the logarithm of each slope a parameter, one set for "
        "all layers.",
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "no",
    .distance_decay = DistanceDecay::yes,
    .kernel = Kernel::bias,
    .variants = {"learned=true", "sides=offset", "sides=offset,learned=true", "sides=split",
                 "sides=split,learned=true"},
};

enum class Sides { symmetric, offset, split };

class Alibi final : public AdditiveBias {
 public:
  struct Options {
    Sides sides = Sides::symmetric;
    bool learned = false;
    void describe(OptionTable& o) {
      o.choice("sides", sides, {"symmetric", "offset", "split"},
               "difference between left and right in bidirectional models");
      o.flag("learned", learned, "learned slopes, which start at ALiBi's");
    }
  };

  Alibi(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : AdditiveBias(config), options_(options), slopes_(alibi_slopes(config.heads)) {
    if (options.learned) {
      log_slopes_ = layout.add("alibi.log_slopes", 1, config.heads,
                               [this](Rng&, Index, Index h) { return std::log(slopes_[h]); });
    }
  }

  void bias(const Parameters& p, const Positions& positions, Matrices& bias) const override {
    for (size_t h = 0; h < bias.size(); ++h) {
      const Real slope = options_.learned ? std::exp(p[log_slopes_](0, h)) : static_cast<Real>(slopes_[h]);
      for_each_pair(positions.size(), [&](Index i, Index j) {
        const Real distance = positions.distance(i, j);
        bias[h](i, j) = is_on_hidden_side(h, distance) ? kHidden : -slope * steps(distance);
      });
    }
  }
  bool hides_keys() const override { return !config_.causal && options_.sides == Sides::split; }
  bool learned() const override { return options_.learned; }
  void bias_backward(const Parameters& p, const Positions& positions, const Matrices& d_bias,
                     Gradients& d) const override {
    for (size_t h = 0; h < d_bias.size(); ++h) {
      Real sum = 0;
      for_each_pair(positions.size(), [&](Index i, Index j) {
        const Real distance = positions.distance(i, j);
        if (!is_on_hidden_side(h, distance)) sum -= d_bias[h](i, j) * steps(distance);
      });
      d[log_slopes_](0, h) += sum * std::exp(p[log_slopes_](0, h));
    }
  }

 private:
  /// Returns the factor of the slope. Keys on the left have a positive distance.
  Real steps(Real distance) const {
    const bool offset = !config_.causal && options_.sides == Sides::offset && distance > 0;
    return std::abs(distance) - (offset ? Real(0.5) : Real(0));
  }
  bool is_on_hidden_side(size_t h, Real distance) const {
    if (!hides_keys()) return false;
    return static_cast<int>(h) < config_.heads / 2 ? distance < 0 : distance > 0;
  }

  Options options_;
  std::vector<double> slopes_;  // (H)
  Parameter log_slopes_;        // (1, H)
};

const RegisterEncoding<Alibi> registered{kInfo};

}  // namespace
}  // namespace posbench::alibi
