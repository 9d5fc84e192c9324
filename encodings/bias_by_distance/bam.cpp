// BAM, the Bayesian attention mechanism: attention as evidence times a prior over positions. The prior is a
// generalized Gaussian of the distance with learned scale, shape and, optionally, centre.
#include <cmath>
#include <vector>

#include "encodings/parts/distance_bias.h"
#include "encodings/parts/slopes.h"
#include "encodings/registry.h"

namespace posbench::bam {
namespace {

const EncodingInfo kInfo{
    .name = "bam",
    .family = Family::bias_by_distance,
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) - e^(a_h) (|j - i - c_h| + 1e-5)^(b_h),   c_h = e^(m_h) - e^(-m_h)",
    .source = "Bianchessi et al. 2025, arXiv:2505.22842; ArthurSBianchessi/BAM",
    .notes =
        "a starts at the logarithm of ALiBi's slopes, b at 1 and m at 0, so that the model starts as ALiBi. "
        "Nothing keeps b positive: a shape below 0 lowers the query's own key and lifts far ones, and the "
        "paper sees such heads. The centre is learned by the code's command line, and fixed at 0 in its "
        "model's defaults, which are the defaults here. Where j - i = c, the derivative of |.| is taken to be 1 "
        "with centre=true; PyTorch takes 0. BAM with SSMax is ssmax:base=bam.",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "no",
    .distance_decay = {DistanceDecay::no, "but yes while all shapes are positive"},
    .variants = {"centre=true", "per_layer=true,shape=-0.5"},
};

constexpr Real kMinDistance = Real(1e-5);

class Bam final : public DistanceBias {
 public:
  struct Options {
    double shape = 1;
    bool centre = false, per_layer = false;
    void describe(OptionTable& o) {
      o.number("shape", shape, -4, 4, "initial b; 1: a Laplace prior, 2: a Gaussian, 0: a uniform one");
      o.flag("centre", centre, "learned distance at which the prior is highest");
      o.flag("per_layer", per_layer, "separate prior for each layer");
    }
  };

  Bam(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : DistanceBias(config), options_(options), slopes_(alibi_slopes(config.heads)) {
    const Index sets = options.per_layer ? config.layers : 1;
    scale_ = layout.no_decay(layout.add("bam.scale", sets, config.heads,
                                        [this](Rng&, Index, Index h) { return std::log(slopes_[h]); }));
    shape_exponent_ = layout.no_decay(layout.constant("bam.shape", sets, config.heads, options.shape));
    if (options.centre) centre_ = layout.no_decay(layout.constant("bam.centre", sets, config.heads, 0));
  }

  bool per_layer() const override { return options_.per_layer; }
  bool learned() const override { return true; }

  void values(const Parameters& p, const In& distances, Out values) const override {
    for (Index n = 0; n < values.rows(); ++n) {
      const Real scale = std::exp(p[scale_].data()[n]), exponent = p[shape_exponent_].data()[n], c = centre(p, n);
      for (Index m = 0; m < distances.cols(); ++m)
        values(n, m) = -scale * std::pow(std::abs(distances(0, m) + c) + kMinDistance, exponent);
    }
  }
  void values_backward(const Parameters& p, const In& distances, const In& d_values, Gradients& d) const override {
    for (Index n = 0; n < d_values.rows(); ++n) {
      const Real scale = std::exp(p[scale_].data()[n]), exponent = p[shape_exponent_].data()[n], c = centre(p, n);
      Real d_centre = 0;
      for (Index m = 0; m < distances.cols(); ++m) {
        const Real away = distances(0, m) + c, size = std::abs(away) + kMinDistance;
        const Real value = -scale * std::pow(size, exponent), d_value = d_values(n, m) * value;
        d[scale_].data()[n] += d_value;
        d[shape_exponent_].data()[n] += d_value * std::log(size);
        d_centre += away < 0 ? -d_value * exponent / size : d_value * exponent / size;
      }
      if (!options_.centre) continue;
      d[centre_].data()[n] += d_centre * 2 * std::cosh(p[centre_].data()[n]);
    }
  }

 private:
  /// c = e^m - e^-m
  Real centre(const Parameters& p, Index n) const {
    return options_.centre ? 2 * std::sinh(p[centre_].data()[n]) : 0;
  }

  Options options_;
  std::vector<double> slopes_;                 // (H)
  Parameter scale_, shape_exponent_, centre_;  // a, b, m (1, H), or (layers, H)
};

const RegisterEncoding<Bam> registered{kInfo};

}  // namespace
}  // namespace posbench::bam
