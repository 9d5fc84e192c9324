// Mine: a learned weight for each head on the logarithm of distance. Replace it by your own encoding.
//
//   score_h(i, j) = q_i . k_j / sqrt(D) + a_h log(1 + |i - j|)
#include <cmath>

#include "encodings/parts/distance_bias.h"
#include "encodings/registry.h"

namespace posbench::mine {
namespace {

class Mine final : public DistanceBias {
 public:
  struct Options {
    double start = -1;
    void describe(OptionTable& o) { o.number("start", start, -100, 100, "initial value of a_h"); }
  };

  Mine(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : DistanceBias(config), weight_(layout.constant("mine.weight", 1, config.heads, options.start)) {}

  bool learned() const override { return true; }
  void values(const Parameters& p, const In& distances, Out values) const override {
    for (Index h = 0; h < values.rows(); ++h) {
      for (Index n = 0; n < distances.cols(); ++n)
        values(h, n) = p[weight_](0, h) * std::log1p(std::abs(distances(0, n)));
    }
  }
  void values_backward(const Parameters&, const In& distances, const In& d_values, Gradients& d) const override {
    for (Index h = 0; h < d_values.rows(); ++h) {
      for (Index n = 0; n < distances.cols(); ++n)
        d[weight_](0, h) += d_values(h, n) * std::log1p(std::abs(distances(0, n)));
    }
  }

 private:
  Parameter weight_;  // (1, H)
};

const RegisterEncoding<Mine> registered{{
    .name = "mine",
    .family = Family::bias_by_distance,
    .equation = "score_h(i, j) = q_i . k_j / sqrt(D) + a_h log(1 + |i - j|)",
    .source = "a template, templates/plugin",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "no",
}};

}  // namespace
}  // namespace posbench::mine
