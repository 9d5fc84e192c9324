// FoPE, Fourier position embedding: RoPE with a sum of frequencies for each pair, one of them dominant. Frequencies
// too slow for one full turn within the trained length are left out, and their pairs do not turn.
//
//   score_h(i, j) = F(p_i) q_i . F(p_j) k_j / sqrt(D),   F(p) takes pair (a, b) to (c a - s b, s a + c b)
//   c_n(p)        = sum over m of A_h(m, n) cos(p w_m),   s_n(p) = sum over m of B_h(m, n) sin(p w_m)
//
// over the N frequencies w_m = base^(-2 m / D) >= 2 pi / L, for the first min(N, D / 4) pairs; c = 1, s = 0 for
// the others. A and B (N, pairs) of each layer and head: 1 for the pair's own frequency, plus N(0, sigma^2) for
// all, with sigma = gain sqrt(2 / (pairs (N + H))), Xavier's for a tensor (H, N, pairs). They are drawn once and not
// learned, as in the code (option learned); here option seed draws them, because a model's seed draws parameters.
//
// Hua et al. 2024, arXiv:2412.17739; TsinghuaC3I/Fourier-Position-Embedding, components n and n + D / 2. Its
// padding gives the other pairs s = 1 too, which turns them by 45 degrees and doubles their product: padding=ones.
// Where all frequencies are too slow, the fastest is kept.
#include <cmath>
#include <numbers>

#include "encodings/parts/rotary.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/product.h"

namespace posbench {
namespace {

enum class Padding { identity, ones };

class Fope final : public PositionEncoding {
 public:
  struct Options {
    double base = 10000, gain = 0.3;
    int length = 0, seed = 0;
    bool learned = false;
    Padding padding = Padding::identity;
    void describe(OptionTable& o) {
      o.number("base", base, 1.001, 1e9, "w_m = base^(-2 m / D)");
      o.number("gain", gain, 0, 100, "how much of the other frequencies; 0: each pair has its own alone");
      o.integer("length", length, 0, 1 << 20, "L: slower frequencies do not turn; 0: the trained length");
      o.flag("learned", learned, "learn A and B, from these on");
      o.integer("seed", seed, 0, 1 << 30, "draws A and B where they are not learned");
      o.choice("padding", padding, {"identity", "ones"}, "s = 0 or 1 for the pairs that do not turn");
    }
  };

  Fope(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : PositionEncoding(shape), options_(options) {
    require_pairs(shape, "fope");
    const int length = std::max(1, options.length > 0 ? options.length : shape.trained_length);
    for (const double w : rope_frequencies(shape.head_width(), options.base)) {
      if (frequencies_.empty() || w >= 2 * std::numbers::pi / length) frequencies_.push_back(w);
    }
    turning_ = std::min<Index>(count(), std::max(1, shape.head_width() / 4));
    const double deviation =
        options.gain * std::sqrt(2.0 / static_cast<double>(turning_ * (count() + shape.heads)));
    const Index step = (count() + turning_ - 1) / turning_;
    const auto draw = [this, deviation, step](Rng& rng, Index row, Index n) {
      return (row % count() == n * step ? 1 : 0) + deviation * normal(rng);
    };
    for (int layer = 0; layer < shape.layers; ++layer) {
      for (const char* side : {"cosine", "sine"}) {
        const std::string name = fmt::format("fope.{}.{}", side, layer);
        if (options.learned) {
          learned_.push_back(layout.add(name, shape.heads * count(), turning_, draw));
          continue;
        }
        Rng rng = stream(static_cast<std::uint64_t>(options.seed), name);
        fixed_.emplace_back(shape.heads * count(), turning_);
        for (Index row = 0; row < fixed_.back().rows(); ++row) {
          for (Index n = 0; n < turning_; ++n) fixed_.back()(row, n) = static_cast<Real>(draw(rng, row, n));
        }
      }
    }
  }

  /// For each layer and head c and s (T, D / 2): values where they are learned, and constants elsewhere.
  void tables(const Parameters& p, const Positions& positions, Tables& tables) const override {
    Matrices& all = options_.learned ? tables.values : tables.constants<Matrices>();
    resize(all, 2 * shape_.layers * shape_.heads, positions.size(), shape_.head_width() / 2);
    for (const bool sine : {false, true}) {
      const Matrix waves = this->waves(positions, sine);
      for (int layer = 0; layer < shape_.layers; ++layer) {
        for (Index h = 0; h < shape_.heads; ++h) {
          Matrix& table = all[index(layer, h, sine)];
          table.setConstant(!sine || options_.padding == Padding::ones ? 1 : 0);
          multiply(waves, coefficients(p, layer, sine).middleRows(h * count(), count()), table.leftCols(turning_));
        }
      }
    }
  }
  void tables_backward(const Parameters&, const Positions& positions, const Tables&, const Matrices& d_tables,
                       Gradients& d) const override {
    if (!options_.learned) return;
    for (const bool sine : {false, true}) {
      const Matrix waves = this->waves(positions, sine);
      for (int layer = 0; layer < shape_.layers; ++layer) {
        for (Index h = 0; h < shape_.heads; ++h) {
          multiply_add(waves.transpose(), d_tables[index(layer, h, sine)].leftCols(turning_),
                       d[learned_[2 * layer + sine]].middleRows(h * count(), count()));
        }
      }
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Index T = in.length(), D = shape_.head_width();
    Matrix &q = in.scratch(T, D), &k = in.scratch(T, D);
    for (Index h = 0; h < shape_.heads; ++h) {
      const auto c = all(in.tables)[index(in.layer, h, false)].topRows(T),
                 s = all(in.tables)[index(in.layer, h, true)].topRows(T);
      rotate(in.q[h], c, s, Pairing::half_split, q);
      rotate(in.k[h], c, s, Pairing::half_split, k);
      dot_product(q, k, scale(), shape_.causal, scores[h]);
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length(), D = shape_.head_width();
    Matrix &q = in.scratch(T, D), &k = in.scratch(T, D), &d_q = in.scratch(T, D), &d_k = in.scratch(T, D);
    for (Index h = 0; h < shape_.heads; ++h) {
      const size_t cosine = index(in.layer, h, false), sine = index(in.layer, h, true);
      const auto c = all(in.tables)[cosine].topRows(T), s = all(in.tables)[sine].topRows(T);
      rotate(in.q[h], c, s, Pairing::half_split, q);
      rotate(in.k[h], c, s, Pairing::half_split, k);
      d_q.setZero();
      d_k.setZero();
      dot_product_backward(q, k, scale(), shape_.causal, d_scores[h], d_q, d_k);
      rotate_backward(d_q, c, s, Pairing::half_split, d.q[h]);
      rotate_backward(d_k, c, s, Pairing::half_split, d.k[h]);
      if (!options_.learned) continue;
      auto d_c = d.tables[cosine].topRows(T), d_s = d.tables[sine].topRows(T);
      rotate_factors_backward(in.q[h], d_q, Pairing::half_split, d_c, d_s);
      rotate_factors_backward(in.k[h], d_k, Pairing::half_split, d_c, d_s);
    }
  }

 private:
  const Matrices& all(const Tables& tables) const {
    return options_.learned ? tables.values : tables.constants<Matrices>();
  }
  Index count() const { return static_cast<Index>(frequencies_.size()); }  // N
  size_t index(int layer, Index h, bool sine) const {
    return static_cast<size_t>(2 * (layer * shape_.heads + h) + (sine ? 1 : 0));
  }

  /// A or B of a layer (H N, pairs), head by head.
  ConstMatrixView coefficients(const Parameters& p, int layer, bool sine) const {
    const size_t n = 2 * static_cast<size_t>(layer) + (sine ? 1 : 0);
    if (options_.learned) return p[learned_[n]];
    return {fixed_[n].data(), fixed_[n].rows(), fixed_[n].cols()};
  }

  /// cos(p_t w_m), or sin (T, N).
  Matrix waves(const Positions& positions, bool sine) const {
    Matrix waves(positions.size(), count());
    for (Index t = 0; t < positions.size(); ++t) {
      for (Index m = 0; m < count(); ++m) {
        const double angle = static_cast<double>(positions.at[t]) * frequencies_[static_cast<size_t>(m)];
        waves(t, m) = static_cast<Real>(sine ? std::sin(angle) : std::cos(angle));
      }
    }
    return waves;
  }

  Options options_;
  std::vector<double> frequencies_;  // w (N), descending
  Index turning_ = 0;                // pairs that turn
  std::vector<RowMajor> fixed_;      // A and B in turn, layer by layer
  std::vector<Parameter> learned_;
};

const RegisterEncoding<Fope> registered{{
    .name = "fope",
    .family = Family::rotary,
    .equation =
        "score(i, j) = F(i) q_i . F(j) k_j / sqrt(D), F as RoPE's rotation with sums over w_m >= 2 pi / L of "
        "A(m, n) cos(p w_m) and B(m, n) sin(p w_m) for its cosines and sines",
    .source = "Hua et al. 2024, arXiv:2412.17739; TsinghuaC3I/Fourier-Position-Embedding",
    .notes = "A and B are drawn once and not learned, as in the code. Its padding also rotates the pairs without "
             "a frequency, by 45 degrees: option padding.",
    .touches = "R",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::no,
    .content_dependent = "no",
    .variants = {"gain=1,length=40", "learned=true,length=40", "padding=ones"},
}};

}  // namespace
}  // namespace posbench
