// TAPA, token-aware phase attention: one part of each query and key gives the score. The product of the other
// parts is the rate at which a phase grows with distance.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/numeric.h"

namespace posbench::tapa {
namespace {

const EncodingInfo kInfo{
    .name = "tapa",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = a(i, j) cos(2 pi |i - j|^alpha b(i, j))\n"
        "a(i, j)       = (q_i . k_j over the first theta D components) / sqrt(theta D)\n"
        "b(i, j)       = (q_i . k_j over the other components) / sqrt((1 - theta) D)",
    .source = "Yu Wang et al. 2025, arXiv:2509.12635, equation 12",
    .notes =
        "The paper has no code; alpha = 0.1 and theta = 0.5 are those of its section 4.1. theta D is rounded "
        "so that each part has at least one component.",
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "query and key",
    .variants = {"alpha=0.5,theta=0.25"},
};

class Tapa final : public PositionEncoding {
 public:
  struct Options {
    double alpha = 0.1, theta = 0.5;
    void describe(OptionTable& o) {
      o.number("alpha", alpha, 0.001, 1, "power of the distance with which phases grow");
      o.number("theta", theta, 0.001, 0.999,
               "fraction of each head that gives the score; the rest gives the phase");
    }
  };

  Tapa(const Options& options, const ModelConfig& config, ParameterLayout&)
      : PositionEncoding(config), alpha_(options.alpha) {
    if (config.head_width() < 2) {
      throw InputError(
          "encoding 'tapa': the head width is 1, expected at least 2; take fewer heads or a larger model.width");
    }
    const Index D = config.head_width();
    amplitude_ = std::clamp<Index>(std::lround(options.theta * static_cast<double>(D)), 1, D - 1);
  }

  void tables(const Parameters&, const Positions& positions, Tables& tables) const override {
    const Index T = positions.size();
    Matrix& pace = tables.constants<Constants>().pace;
    pace.resize(T, T);
    for (Index i = 0; i < T; ++i) {
      for (Index j = 0; j < T; ++j) {
        const double distance = std::abs(static_cast<double>(positions.distance(i, j)));
        pace(i, j) = static_cast<Real>(2 * std::numbers::pi * std::pow(distance, alpha_));
      }
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Index T = in.length(), D = config_.head_width(), rest = D - amplitude_;
    const Matrix& pace = in.tables.constants<Constants>().pace;
    Matrix &b = in.scratch(T, T), &cosine = in.scratch(1, T);
    content(in, scores);
    for (size_t h = 0; h < scores.size(); ++h) {
      dot_product(in.q[h].rightCols(rest), in.k[h].rightCols(rest), phase_scale(), config_.causal, b);
      for (Index i = 0; i < T; ++i) {
        const Index keys = num_visible_keys(i, T, config_.causal);
        auto phase = b.row(i).head(keys);
        phase.array() *= pace.row(i).head(keys).array();
        sine_cosine(phase, phase, cosine.row(0).head(keys));
        scores[h].row(i).head(keys).array() *= cosine.row(0).head(keys).array();
      }
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length(), D = config_.head_width(), rest = D - amplitude_;
    Matrix &a = in.scratch(T, T), &b = in.scratch(T, T), &d_a = in.scratch(T, T), &d_b = in.scratch(T, T);
    Matrix& cosine = in.scratch(1, T);
    d_a.setZero();
    d_b.setZero();
    for (size_t h = 0; h < d_scores.size(); ++h) {
      const Matrix &q = in.q[h], &k = in.k[h];
      dot_product(q.leftCols(amplitude_), k.leftCols(amplitude_), amplitude_scale(), config_.causal, a);
      dot_product(q.rightCols(rest), k.rightCols(rest), phase_scale(), config_.causal, b);
      for (Index i = 0; i < T; ++i) {
        const Index keys = num_visible_keys(i, T, config_.causal);
        const auto pace = in.tables.constants<Constants>().pace.row(i).head(keys).array(),
                   d_score = d_scores[h].row(i).head(keys).array();
        auto phase = b.row(i).head(keys);
        phase.array() *= pace;
        sine_cosine(phase, phase, cosine.row(0).head(keys));
        d_a.row(i).head(keys).array() = d_score * cosine.row(0).head(keys).array();
        d_b.row(i).head(keys).array() = -d_score * a.row(i).head(keys).array() * phase.array() * pace;
      }
      dot_product_backward(q.leftCols(amplitude_), k.leftCols(amplitude_), amplitude_scale(), config_.causal, d_a,
                           d.q[h].leftCols(amplitude_), d.k[h].leftCols(amplitude_));
      dot_product_backward(q.rightCols(rest), k.rightCols(rest), phase_scale(), config_.causal, d_b,
                           d.q[h].rightCols(rest), d.k[h].rightCols(rest));
    }
  }

  void content(const AttentionInput& in, Heads& content) const override {
    for (size_t h = 0; h < content.size(); ++h) {
      dot_product(in.q[h].leftCols(amplitude_), in.k[h].leftCols(amplitude_), amplitude_scale(), config_.causal,
                  content[h]);
    }
  }

 private:
  struct Constants {
    Matrix pace;  // (T, T): 2 pi |i - j|^alpha
  };

  Real amplitude_scale() const { return 1 / std::sqrt(static_cast<Real>(amplitude_)); }
  Real phase_scale() const { return 1 / std::sqrt(static_cast<Real>(config_.head_width() - amplitude_)); }

  double alpha_;
  Index amplitude_;  // theta D: the number of leading components, which give the score
};

const RegisterEncoding<Tapa> registered{kInfo};

}  // namespace
}  // namespace posbench::tapa
