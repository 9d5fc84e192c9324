// Wavelet position: Shaw's relative keys, with Ricker wavelets of the distance instead of learned vectors. Each
// component of a head has its own scale and shift.
//
//   score_h(i, j) = q_i . (k_j + P(i - j)) / sqrt(D)
//   P(n)[e]       = (1 - u^2) exp(-u^2 / 2),   u = (n - b_e) / a_e
//   a_e           = 2^(e / (D / s), rounded down),   b_e = e mod (D / s),   s scales
//
// Oka et al. 2025, arXiv:2502.02004, section 5.1, with s = 8 for D = 128. The paper has no code; it leaves open
// which component has which pair (a, b). s = 0 takes the largest divisor of D that is at most 8.
#include <cmath>

#include "encodings/parts/distances.h"
#include "encodings/parts/relative_rows.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class Wavelet final : public PositionEncoding {
 public:
  struct Options {
    int scales = 0;
    void describe(OptionTable& o) {
      o.integer("scales", scales, 0, 60, "s, which divides the head width; 0: the most that do, up to 8");
    }
  };

  Wavelet(const Options& options, const ModelShape& shape, ParameterLayout&)
      : PositionEncoding(shape), scales_(options.scales) {
    const int D = shape.head_width();
    if (scales_ == 0) {
      scales_ = std::min(8, D);
      while (D % scales_ != 0) --scales_;
    }
    if (D % scales_ != 0) {
      throw std::invalid_argument(
          fmt::format("encoding 'wavelet': scales is {}, expected a divisor of the head width, {}", scales_, D));
    }
  }

  void tables(const Parameters&, const Positions& positions, Tables& tables) const override {
    const Index D = shape_.head_width(), shifts = D / scales_;
    Matrix distances;
    Constants& c = tables.constants<Constants>();
    distinct_distances(positions, shape_.causal, distances, c.pairs.index);
    find_runs(c.pairs);
    c.rows.resize(distances.cols(), D);
    for (Index n = 0; n < distances.cols(); ++n) {
      for (Index e = 0; e < D; ++e) {
        const Real shift = static_cast<Real>(e % shifts), scale = std::exp2(static_cast<Real>(e / shifts));
        const Real u = (distances(0, n) - shift) / scale;
        c.rows(n, e) = (1 - u * u) * std::exp(-u * u / 2);
      }
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    PositionEncoding::score(in, scores);
    const Constants& c = in.tables.constants<Constants>();
    for (size_t h = 0; h < scores.size(); ++h) {
      add_row_products(in.q[h], c.rows, c.pairs, Side::query, scale(), shape_.causal, in.scratch, scores[h]);
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    PositionEncoding::score_backward(in, d_scores, d);
    const Constants& c = in.tables.constants<Constants>();
    Matrix& unused = in.scratch(c.rows.rows(), c.rows.cols());  // the gradient of the wavelets
    unused.setZero();
    for (size_t h = 0; h < d_scores.size(); ++h) {
      add_row_products_backward(in.q[h], c.rows, c.pairs, Side::query, scale(), shape_.causal, d_scores[h],
                                in.scratch, d.q[h], unused);
    }
  }

 private:
  struct Constants {
    PairRows pairs;
    Matrix rows;  // (N, D): P of each distance
  };

  int scales_;  // s
};

const RegisterEncoding<Wavelet> registered{{
    .name = "wavelet",
    .family = Family::relative_vectors,
    .equation =
        "score(i, j) = q_i . (k_j + P(i - j)) / sqrt(D),   P(n)[e] = (1 - u^2) exp(-u^2 / 2),   u = (n - b_e) "
        "/ a_e, a_e powers of 2",
    .source = "Oka et al. 2025, arXiv:2502.02004, section 5.1",
    .notes =
        "From the paper, which has no code. With heads narrower than its 128 there are fewer shifts for each of "
        "the 8 scales; beyond distances of a few times the largest scale, 2^(s - 1), there is no position left.",
    .touches = "Q",
    .takes_positions = TakesPositions::distances,
    .extrapolates = {Extrapolation::defined, "but yes where the largest scale is well below the trained length"},
    .relative = Relative::yes,
    .content_dependent = "query",
    .variants = {"scales=1", "scales=2"},
}};

}  // namespace
}  // namespace posbench
