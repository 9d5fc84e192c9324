// Adds Ricker wavelets of the distance to the keys. Each component of a head has its own scale and shift.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "encodings/parts/distances.h"
#include "encodings/parts/relative_rows.h"
#include "encodings/registry.h"

namespace posbench::wavelet {
namespace {

const EncodingInfo kInfo{
    .name = "wavelet",
    .family = Family::relative_vectors,
    .equation =
        "score_h(i, j) = q_i . (k_j + P(i - j)) / sqrt(D)\n"
        "P(n)[e] = (1 - u^2) exp(-u^2 / 2),   u = (n - b_e) / a_e\n"
        "a_e = 2^floor(e / (D / s)),   b_e = e mod (D / s),   s scales",
    .source = "Oka et al. 2025, arXiv:2502.02004, section 5.1",
    .notes =
        "These are Shaw's relative keys with wavelets instead of learned vectors. The paper has no code, "
        "and it does not state which component has which pair (a, b). It has s = 8 for D = 128; s = 0 "
        "takes the largest divisor of D that is at most 8. Narrower heads have fewer shifts for each "
        "scale. Beyond distances of a few times the largest scale, 2^(s - 1), no position is left.",
    .takes_positions = TakesPositions::distances,
    .extrapolates = {Extrapolation::defined, "but yes where the largest scale is well below the trained length"},
    .relative = Relative::yes,
    .content_dependent = "query",
    .kernel = Kernel::score_modifier,
    .variants = {"scales=1", "scales=2"},
};

class Wavelet final : public PositionEncoding {
 public:
  struct Options {
    int scales = 0;
    void describe(OptionTable& o) {
      o.integer("scales", scales, 0, 60, "s, a divisor of the head width; 0: the largest divisor up to 8");
    }
  };

  Wavelet(const Options& options, const ModelConfig& config, ParameterLayout&)
      : PositionEncoding(config), scales_(options.scales) {
    const int D = config.head_width();
    if (scales_ == 0) {
      scales_ = std::min(8, D);
      while (D % scales_ != 0) --scales_;
    }
    if (D % scales_ != 0) {
      throw InputError(
          fmt::format("encoding 'wavelet': scales is {}, expected a divisor of the head width, {}", scales_, D));
    }
  }

  void tables(const Parameters&, const Positions& positions, Tables& tables) const override {
    const Index D = config_.head_width(), shifts = D / scales_;
    Matrix distances;
    Constants& c = tables.constants<Constants>();
    distinct_distances(positions, config_.causal, distances, c.pairs.index);
    classify_tiles(c.pairs);
    c.wavelets.resize(distances.cols(), D);
    for (Index n = 0; n < distances.cols(); ++n) {
      for (Index e = 0; e < D; ++e) {
        const Real shift = static_cast<Real>(e % shifts), scale = std::exp2(static_cast<Real>(e / shifts));
        const Real u = (distances(0, n) - shift) / scale;
        c.wavelets(n, e) = (1 - u * u) * std::exp(-u * u / 2);
      }
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    PositionEncoding::score(in, scores);
    const Constants& c = in.tables.constants<Constants>();
    for (size_t h = 0; h < scores.size(); ++h) {
      add_row_products(in.q[h], {c.wavelets, c.pairs, config_.causal, in.scratch}, {Side::query, scale()},
                       scores[h]);
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    PositionEncoding::score_backward(in, d_scores, d);
    const Constants& c = in.tables.constants<Constants>();
    Matrix& d_wavelets = in.scratch(c.wavelets.rows(), c.wavelets.cols());  // not used
    d_wavelets.setZero();
    for (size_t h = 0; h < d_scores.size(); ++h) {
      add_row_products_backward(in.q[h], {c.wavelets, c.pairs, config_.causal, in.scratch}, {Side::query, scale()},
                                d_scores[h], d.q[h], d_wavelets);
    }
  }

 private:
  struct Constants {
    PairRows pairs;
    Matrix wavelets;  // (N, D), P of each distance
  };

  int scales_;  // s
};

const RegisterEncoding<Wavelet> registered{kInfo};

}  // namespace
}  // namespace posbench::wavelet
