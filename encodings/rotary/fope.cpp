// Rotates queries and keys as RoPE does, with a sum of frequencies for each pair (Fourier position embedding).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "encodings/parts/require_use.h"
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/product.h"

namespace posbench::fope {
namespace {

const EncodingInfo kInfo{
    .name = "fope",
    .family = Family::rotary,
    .equation =
        "score_h(i, j) = F(p_i) q_i . F(p_j) k_j / sqrt(D),   "
        "F(p) maps pair (a, b) to (c a - s b, s a + c b)\n"
        "c_n(p) = sum over m of A_h(m, n) cos(p w_m),   s_n(p) = sum over m of B_h(m, n) sin(p w_m)\n"
        "for the N frequencies w_m = base^(-2m / D) >= 2 pi / L and the first min(N, D / 4) pairs;   c = "
        "1, s = 0 for the others",
    .source = "Hua et al. 2024, arXiv:2412.17739; TsinghuaC3I/Fourier-Position-Embedding",
    .notes =
        "Frequencies too slow for a full turn within the trained length L are left out, and their pairs do "
        "not turn. If all are too slow, the fastest is kept. A and B (N, pairs) of each layer and head are "
        "1 for frequency n ceil(N / pairs) of pair n, if there is one, as in the code, plus N(0, sigma^2) for all "
        "frequencies, with sigma = gain sqrt(2 / (pairs (N + H))), which is Xavier's for a tensor (H, N, pairs). They are drawn once and not "
        "learned, as in the code (option learned). Option seed draws them, because a model's seed draws "
        "parameters. Pairs are the components n and n + D / 2. The code's padding also gives the other "
        "pairs s = 1, which turns them by 45 degrees and doubles their product: padding=ones.",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::no,
    .content_dependent = "no",
    .kernel = Kernel::any,
    .variants = {"gain=1,length=40", "learned=true,length=40", "padding=ones"},
};

enum class Padding { identity, ones };

class Fope final : public PositionEncoding {
 public:
  struct Options {
    double base = 10000, gain = 0.3;
    int length = 0, seed = 0;
    bool learned = false;
    Padding padding = Padding::identity;
    void describe(OptionTable& o) {
      o.number("base", base, 1.001, 1e9, "base of the frequencies w_m = base^(-2m / D)");
      o.number("gain", gain, 0, 100, "weight of the other frequencies; 0: each pair has one frequency at most");
      o.integer("length", length, 0, 1 << 20,
                "L; frequencies too slow for a full turn are left out; 0: the trained length");
      o.flag("learned", learned, "learn A and B from their initial values");
      o.integer("seed", seed, 0, 1 << 30, "seed of A and B if they are not learned");
      o.choice("padding", padding, {"identity", "ones"}, "s of the pairs that do not turn: 0 or 1");
    }
  };

  Fope(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config), options_(options) {
    require_pairs(config, "fope");
    require_use("fope", "seed", options.seed, 0, !options.learned, "learned=true");
    const int length = std::max(1, options.length > 0 ? options.length : config.trained_length);
    for (const double w : rope_frequencies(config.head_width(), options.base)) {
      if (frequencies_.empty() || w >= 2 * std::numbers::pi / length) frequencies_.push_back(w);
    }
    turning_ = std::min<Index>(count(), std::max(1, config.head_width() / 4));
    const double deviation =
        options.gain * std::sqrt(2.0 / static_cast<double>(turning_ * (count() + config.heads)));
    const Index step = (count() + turning_ - 1) / turning_;
    const auto draw = [this, deviation, step](Rng& rng, Index row, Index n) {
      return (row % count() == n * step ? 1 : 0) + deviation * normal(rng);
    };
    for (int layer = 0; layer < config.layers; ++layer) {
      for (const char* side : {"cosine", "sine"}) {
        const std::string name = fmt::format("fope.{}.{}", side, layer);
        if (options.learned) {
          learned_.push_back(layout.add(name, config.heads * count(), turning_, draw));
          continue;
        }
        Rng rng = make_rng(static_cast<std::uint64_t>(options.seed), name);
        fixed_.emplace_back(config.heads * count(), turning_);
        for (Index row = 0; row < fixed_.back().rows(); ++row) {
          for (Index n = 0; n < turning_; ++n) fixed_.back()(row, n) = static_cast<Real>(draw(rng, row, n));
        }
      }
    }
  }

  /// The values, or the constants if A and B are not learned, are c and s (T, D / 2) for each layer and head.
  void tables(const Parameters& p, const Positions& positions, Tables& tables) const override {
    Matrices& all = options_.learned ? tables.values : tables.constants<Matrices>();
    resize(all, 2 * config_.layers * config_.heads, positions.size(), config_.head_width() / 2);
    for (const bool sine : {false, true}) {
      const Matrix waves = this->waves(positions, sine);
      for (int layer = 0; layer < config_.layers; ++layer) {
        for (Index h = 0; h < config_.heads; ++h) {
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
      for (int layer = 0; layer < config_.layers; ++layer) {
        for (Index h = 0; h < config_.heads; ++h) {
          multiply_add(waves.transpose(), d_tables[index(layer, h, sine)].leftCols(turning_),
                       d[learned_[2 * layer + sine]].middleRows(h * count(), count()));
        }
      }
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Index T = in.length(), D = config_.head_width();
    Matrix &q = in.scratch(T, D), &k = in.scratch(T, D);
    for (Index h = 0; h < config_.heads; ++h) {
      const auto c = all(in.tables)[index(in.layer, h, false)].topRows(T),
                 s = all(in.tables)[index(in.layer, h, true)].topRows(T);
      rotate(in.q[h], c, s, Pairing::half_split, q);
      rotate(in.k[h], c, s, Pairing::half_split, k);
      dot_product(q, k, scale(), config_.causal, scores[h]);
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length(), D = config_.head_width();
    Matrix &q = in.scratch(T, D), &k = in.scratch(T, D), &d_q = in.scratch(T, D), &d_k = in.scratch(T, D);
    for (Index h = 0; h < config_.heads; ++h) {
      const size_t cosine = index(in.layer, h, false), sine = index(in.layer, h, true);
      const auto c = all(in.tables)[cosine].topRows(T), s = all(in.tables)[sine].topRows(T);
      rotate(in.q[h], c, s, Pairing::half_split, q);
      rotate(in.k[h], c, s, Pairing::half_split, k);
      d_q.setZero();
      d_k.setZero();
      dot_product_backward(q, k, scale(), config_.causal, d_scores[h], d_q, d_k);
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
    return static_cast<size_t>(2 * (layer * config_.heads + h) + (sine ? 1 : 0));
  }

  /// Returns A or B of a layer, (H N, pairs), head by head.
  ConstMatrixView coefficients(const Parameters& p, int layer, bool sine) const {
    const size_t n = 2 * static_cast<size_t>(layer) + (sine ? 1 : 0);
    if (options_.learned) return p[learned_[n]];
    return {fixed_[n].data(), fixed_[n].rows(), fixed_[n].cols()};
  }

  /// Returns cos(p_t w_m), or the sines, (T, N).
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
  std::vector<EigenMatrix> fixed_;   // A and B of each layer if they are not learned
  std::vector<Parameter> learned_;   // A and B of each layer if they are learned
};

const RegisterEncoding<Fope> registered{kInfo};

}  // namespace
}  // namespace posbench::fope
