// Lets content determine the magnitude of a component, and position its phase (polar positions).
#include <cmath>
#include <numbers>

#include "encodings/parts/rotary.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/lanes.h"
#include "model/numeric.h"

namespace posbench::pope {
namespace {

const EncodingInfo kInfo{
    .name = "pope",
    .family = Family::rotary,
    .equation =
        "score_h(i, j) = sum over e of softplus(q_ie) softplus(k_je) cos((p_i - p_j) w_e - delta_he) / "
        "sqrt(D)\n"
        "w_e = base^(-e / D), e = 0 .. D - 1;   delta (H, D) learned, one set for all layers, in [-2 pi, 0]",
    .source =
        "Gopalakrishnan et al. 2025, arXiv:2509.10534, as restated by Levy, Videau et al. 2026, "
        "arXiv:2609.34556; lucidrains/x-transformers",
    .notes =
        "The score is the dot product of two vectors of width 2 D: softplus(q_e) at the angle p_i w_e, and "
        "softplus(k_e) at the angle p_j w_e + delta_e. Every update is followed by a projection of delta into "
        "[-2 pi, 0]. x-transformers clamps delta where it is used instead, so that an entry above 0 gets no "
        "gradient. The restatement otherwise agrees with lucidrains/x-transformers; the authors' code "
        "was not read. The scale 1 / sqrt(D) is an assumption. Angles beyond the trained length are new; while "
        "delta is 0 they can only lower a score.",
    .learned = true,
    .takes_positions = TakesPositions::positions,
    .extrapolates = {Extrapolation::yes, "but defined where delta has moved from 0"},
    .relative = Relative::yes,
    .content_dependent = "no",
    .kernel = Kernel::any,
    .variants = {"init=uniform,base=100"},
};

enum class Start { zero, uniform };

class Pope final : public PositionEncoding {
 public:
  struct Options {
    Start init = Start::zero;
    double base = 10000;
    void describe(OptionTable& o) {
      o.choice("init", init, {"zero", "uniform"}, "initial delta: 0, or uniform over [-2 pi, 0]");
      o.number("base", base, 1.001, 1e9,
               "base of the frequencies; the slowest component turns once in about 2 pi base positions");
    }
  };

  Pope(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config), base_(options.base) {
    delta_ = options.init == Start::zero
                 ? layout.constant("pope.delta", config.heads, config.head_width(), 0)
                 : layout.uniform("pope.delta", config.heads, config.head_width(), kMin, 0);
    layout.no_decay(delta_);
  }

  void constrain(Parameters& p) const override {
    p[delta_] = p[delta_].cwiseMax(static_cast<Real>(kMin)).cwiseMin(Real(0));
  }

  void tables(const Parameters& p, const Positions& positions, Tables& tables) const override {
    const Index T = positions.size(), D = config_.head_width();
    Rotations& queries = tables.constants<Rotations>();
    Matrix &cosines = queries.cosine, &sines = queries.sine;
    cosines.resize(T, D);
    sines.resize(T, D);
    for (Index e = 0; e < D; ++e) {
      const double w = std::pow(base_, -static_cast<double>(e) / static_cast<double>(D));
      for (Index t = 0; t < T; ++t) {
        const double angle = static_cast<double>(positions.at[t]) * w;
        cosines(t, e) = static_cast<Real>(std::cos(angle));
        sines(t, e) = static_cast<Real>(std::sin(angle));
      }
    }
    tables.values.resize(2 * static_cast<size_t>(config_.heads));
    for (Index h = 0; h < config_.heads; ++h) {  // adds delta to the angle by the addition theorems
      Matrix &key_cosines = tables.values[key_cosine(h)], &key_sines = tables.values[key_sine(h)];
      key_cosines.resize(T, D);
      key_sines.resize(T, D);
      for (Index e = 0; e < D; ++e) {
        const Real c = std::cos(p[delta_](h, e)), s = std::sin(p[delta_](h, e));
        key_cosines.col(e) = cosines.col(e) * c - sines.col(e) * s;
        key_sines.col(e) = sines.col(e) * c + cosines.col(e) * s;
      }
    }
  }
  void tables_backward(const Parameters&, const Positions&, const Tables& tables, const Matrices& d_keys,
                       Gradients& d) const override {
    auto d_delta = d[delta_];
    for (Index h = 0; h < config_.heads; ++h) {
      const size_t c = key_cosine(h), s = key_sine(h);
      const EigenMatrix turned =
          tables.values[c].cwiseProduct(d_keys[s]) - tables.values[s].cwiseProduct(d_keys[c]);
      add_column_sums(turned, d_delta.row(h));
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Index T = in.length(), D = config_.head_width();
    const Rotations& queries = in.tables.constants<Rotations>();
    Matrix &q = in.scratch(T, 2 * D), &k = in.scratch(T, 2 * D), &magnitudes = in.scratch(T, D);
    for (Index h = 0; h < config_.heads; ++h) {
      softplus(in.q[h], magnitudes);
      polar(magnitudes, queries.cosine, queries.sine, q);
      softplus(in.k[h], magnitudes);
      polar(magnitudes, in.tables.values[key_cosine(h)], in.tables.values[key_sine(h)], k);
      dot_product(q, k, scale(), config_.causal, scores[h]);
    }
  }

  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length(), D = config_.head_width();
    const Rotations& queries = in.tables.constants<Rotations>();
    Matrix &q = in.scratch(T, 2 * D), &k = in.scratch(T, 2 * D);
    Matrix &d_q = in.scratch(T, 2 * D), &d_k = in.scratch(T, 2 * D);
    Matrix &magnitudes = in.scratch(T, D), &slopes = in.scratch(T, D);
    for (Index h = 0; h < config_.heads; ++h) {
      const size_t c = key_cosine(h), s = key_sine(h);
      softplus(in.q[h], magnitudes);
      polar(magnitudes, queries.cosine, queries.sine, q);
      softplus(in.k[h], magnitudes);
      polar(magnitudes, in.tables.values[c], in.tables.values[s], k);
      d_q.setZero();
      d_k.setZero();
      dot_product_backward(q, k, scale(), config_.causal, d_scores[h], d_q, d_k);
      sigmoid(in.q[h], slopes);
      polar_backward(slopes, queries.cosine, queries.sine, d_q, d.q[h]);
      sigmoid(in.k[h], slopes);
      polar_backward(slopes, in.tables.values[c], in.tables.values[s], d_k, d.k[h]);
      turning_backward(magnitudes, d_k, d.tables[c], d.tables[s]);
    }
  }

  void content(const AttentionInput& in, Heads& content) const override {
    const Index T = in.length(), D = config_.head_width();
    Matrix &q = in.scratch(T, D), &k = in.scratch(T, D);
    for (size_t h = 0; h < content.size(); ++h) {
      softplus(in.q[h], q);
      softplus(in.k[h], k);
      dot_product(q, k, scale(), config_.causal, content[h]);
    }
  }

 private:
  static constexpr double kMin = -2 * std::numbers::pi;

  // The cosines and sines of queries are constants, (T, D), the same for all heads. The cosines and sines of keys
  // are values, (T, D), for each head. These are their indices.
  static size_t key_cosine(Index h) { return 2 * static_cast<size_t>(h); }
  static size_t key_sine(Index h) { return key_cosine(h) + 1; }

  /// Sets vectors to [m cos, m sin], where m = softplus(x) are the magnitudes.
  static void polar(const Matrix& magnitudes, const Matrix& cosine, const Matrix& sine, Matrix& vectors) {
    const Index D = magnitudes.cols();
    for (Index t = 0; t < magnitudes.rows(); ++t) {
      const Real *m = magnitudes.row(t).data(), *c = cosine.row(t).data(), *s = sine.row(t).data();
      Real* to = vectors.row(t).data();
      for_each_lanes(D, [=](Index e, auto count) {
        store(load(m + e, count, 0) * load(c + e, count, 0), to + e, count);
        store(load(m + e, count, 0) * load(s + e, count, 0), to + D + e, count);
      });
    }
  }
  /// d_x += (d_vectors projected on the angle) slope, where slope = sigmoid(x) is the derivative of the magnitude.
  static void polar_backward(const Matrix& slopes, const Matrix& cosine, const Matrix& sine,
                             const Matrix& d_vectors, Matrix& d_x) {
    const Index D = slopes.cols();
    for (Index t = 0; t < slopes.rows(); ++t) {
      const Real *slope = slopes.row(t).data(), *c = cosine.row(t).data(), *s = sine.row(t).data();
      const Real* d = d_vectors.row(t).data();
      Real* to = d_x.row(t).data();
      for_each_lanes(D, [=](Index e, auto count) {
        const Lanes along =
            fused(load(d + e, count, 0), load(c + e, count, 0), load(d + D + e, count, 0) * load(s + e, count, 0));
        store(fused(along, load(slope + e, count, 0), load(to + e, count, 0)), to + e, count);
      });
    }
  }
  /// d_cosine += m times the left half of d_vectors,   d_sine += m times the right half.
  static void turning_backward(const Matrix& magnitudes, const Matrix& d_vectors, Matrix& d_cosine,
                               Matrix& d_sine) {
    const Index D = magnitudes.cols();
    for (Index t = 0; t < magnitudes.rows(); ++t) {
      const Real *m = magnitudes.row(t).data(), *d = d_vectors.row(t).data();
      Real *to_c = d_cosine.row(t).data(), *to_s = d_sine.row(t).data();
      for_each_lanes(D, [=](Index e, auto count) {
        const Lanes magnitude = load(m + e, count, 0);
        store(fused(load(d + e, count, 0), magnitude, load(to_c + e, count, 0)), to_c + e, count);
        store(fused(load(d + D + e, count, 0), magnitude, load(to_s + e, count, 0)), to_s + e, count);
      });
    }
  }

  double base_;
  Parameter delta_;  // (H, D)
};

const RegisterEncoding<Pope> registered{kInfo};

}  // namespace
}  // namespace posbench::pope
