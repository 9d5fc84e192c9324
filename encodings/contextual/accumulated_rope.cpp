// Accumulated rotations: RoPE whose angle between two tokens is the sum of an angle of each token from key to
// query. The values are rotated, too.
#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "encodings/parts/contextual_rotary.h"
#include "encodings/parts/cumsum.h"
#include "encodings/parts/require_use.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/layers.h"
#include "model/numeric.h"

namespace posbench::accumulated_rope {
namespace {

const EncodingInfo kInfo{
    .name = "accumulated_rope",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = R(Phi_i) q_i . R(Phi_j) k_j / sqrt(D)\n"
        "output_h(i)   = sum over j of attention_h(i, j) R(Phi_j - Phi_i) v_j\n"
        "Phi_t         = a_0 + ... + a_(t-1), pair by pair, without t itself\n"
        "a_t           = x_t W + c, or base^(-2 n / D) tanh(x_t W + c) for pair n with angle=bounded",
    .source = "Godavarti 2026, arXiv:2606.24975; mahesh-godavarti/joformer",
    .notes =
        "Only the abstract of the paper could be read. The rotations of queries, keys and values are those of "
        "the repository (commit d0702b7). The rest differs from it: there the angles of a token are a learned "
        "row for its id, or n t for pair n at position t, pairs are neighboring components, there is one head, "
        "and the attention log(1 + e^score) is not normalized. Both forms of the angle here, a linear map of "
        "the token's vector and its bounded form, are those of a later version, which could not be read again. "
        "The repository sums from the end of the sequence, which gives the same differences. W and c of each "
        "layer start uniform over +-C^-0.5. values=false rotates only queries and keys.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::accumulated,
    .content_dependent = "token",
    .kernel = Kernel::any,
    .variants = {"angle=bounded", "angle=bounded,values=false"},
};

enum class Angle { linear, bounded };

class AccumulatedRope final : public ContextualRotary {
 public:
  struct Options {
    Angle angle = Angle::linear;
    double base = 10000;
    bool values = true;
    void describe(OptionTable& o) {
      o.choice("angle", angle, {"linear", "bounded"}, "angle of a token: unbounded, or at most RoPE's");
      o.number("base", base, 1.001, 1e9, "base of RoPE's frequencies, for angle=bounded");
      o.flag("values", values, "rotation of the values, too");
    }
  };

  AccumulatedRope(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : ContextualRotary(config, Pairing::half_split, "accumulated_rope"), options_(options) {
    require_use("accumulated_rope", "base", options.base, Options{}.base, options.angle == Angle::bounded,
                "angle=linear");
    const Index angles = config.heads * pairs();
    const double bound = 1 / std::sqrt(config.width);
    for (int layer = 0; layer < config.layers; ++layer) {
      const auto name = [&](const char* part) { return fmt::format("accumulated_rope.{}.{}", part, layer); };
      weights_.push_back(layout.uniform(name("weight"), config.width, angles, -bound, bound));
      biases_.push_back(layout.uniform(name("bias"), 1, angles, -bound, bound));
    }
    frequencies_.resize(1, angles);
    frequencies_.setOnes();
    if (options.angle == Angle::linear) return;
    const std::vector<double> rope = rope_frequencies(config.head_width(), options.base);
    for (Index n = 0; n < angles; ++n)
      frequencies_(0, n) = static_cast<Real>(rope[static_cast<size_t>(n % pairs())]);
  }

  const Matrix& angles(const AttentionInput& in) const override {
    Matrix& angles = steps(in);
    for (Index t = angles.rows() - 1; t > 0; --t) angles.row(t) = angles.row(t - 1);  // without the step of t
    angles.row(0).setZero();
    cumsum_over_rows(angles);
    return angles;
  }
  void angles_backward(const AttentionInput& in, Matrix& d_angles, AttentionGradient& d) const override {
    cumsum_over_rows_backward(d_angles);
    for (Index t = 0; t + 1 < d_angles.rows(); ++t) d_angles.row(t) = d_angles.row(t + 1);
    d_angles.bottomRows(1).setZero();
    if (options_.angle == Angle::bounded) {
      const Matrix& steps = this->steps(in);
      for (Index t = 0; t < in.length(); ++t) {  // w (1 - tanh^2) = (w^2 - a^2) / w
        d_angles.row(t).array() *=
            (frequencies_.row(0).array().square() - steps.row(t).array().square()) / frequencies_.row(0).array();
      }
    }
    linear_backward(in.x, in.parameters[weights_[in.layer]], d_angles, d.x, d.parameters[weights_[in.layer]],
                    d.parameters[biases_[in.layer]]);
  }

  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const override {
    if (!options_.values) return PositionEncoding::mix(in, attention, output);
    const Index T = in.length(), D = config_.head_width();
    const auto [cosine, sine] = cosines_and_sines(in);
    Matrix &v = in.scratch(T, D), &sum = in.scratch(T, D);
    for (size_t h = 0; h < output.size(); ++h) {
      const auto c = of_head(cosine, h), s = of_head(sine, h);
      rotate(in.v[h], c, s, Pairing::half_split, v);
      weighted_sum(attention[h], v, config_.causal, sum);
      output[h].setZero();
      rotate_backward(sum, c, s, Pairing::half_split, output[h]);  // by minus the query's angle
    }
  }
  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const override {
    if (!options_.values) return PositionEncoding::mix_backward(in, attention, d_output, d_attention, d);
    const Index T = in.length(), D = config_.head_width();
    const auto [cosine, sine] = cosines_and_sines(in);
    Matrix &v = in.scratch(T, D), &sum = in.scratch(T, D), &d_v = in.scratch(T, D), &d_sum = in.scratch(T, D);
    Matrix &d_angles = in.scratch(T, cosine.cols()), &d_turned = in.scratch(T, pairs());
    d_angles.setZero();
    for (size_t h = 0; h < d_output.size(); ++h) {
      const auto c = of_head(cosine, h), s = of_head(sine, h);
      rotate(in.v[h], c, s, Pairing::half_split, v);
      weighted_sum(attention[h], v, config_.causal, sum);
      rotate(d_output[h], c, s, Pairing::half_split, d_sum);
      // d_output . output = sum . d_sum,   d_sum = R(Phi) d_output: value and gradient swap roles.
      d_turned.setZero();
      rotate_angle_backward(sum, d_sum, Pairing::half_split, d_turned);
      of_head(d_angles, h) -= d_turned;
      d_v.setZero();
      weighted_sum_backward(attention[h], v, config_.causal, d_sum, d_attention[h], d_v);
      rotate_angle_backward(v, d_v, Pairing::half_split, of_head(d_angles, h));
      rotate_backward(d_v, c, s, Pairing::half_split, d.v[h]);
    }
    angles_backward(in, d_angles, d);
  }

 private:
  /// Returns a (T, H D / 2), in scratch.
  Matrix& steps(const AttentionInput& in) const {
    Matrix& steps = in.scratch(in.length(), frequencies_.cols());
    linear(in.x, in.parameters[weights_[in.layer]], in.parameters[biases_[in.layer]], steps);
    if (options_.angle == Angle::bounded) {  // tanh(x) = 2 sigmoid(2 x) - 1
      steps *= 2;
      sigmoid(steps, steps);
      steps.array() = (2 * steps.array() - 1).rowwise() * frequencies_.row(0).array();
    }
    return steps;
  }

  /// Returns cosines and sines of the angles, in scratch.
  std::pair<Matrix&, Matrix&> cosines_and_sines(const AttentionInput& in) const {
    const Matrix& angles = this->angles(in);
    Matrix &cosine = in.scratch(in.length(), angles.cols()), &sine = in.scratch(in.length(), angles.cols());
    sine_cosine(angles, sine, cosine);
    return {cosine, sine};
  }

  Options options_;
  EigenMatrix frequencies_;                  // w (1, H D / 2), or ones
  std::vector<Parameter> weights_, biases_;  // W (C, H D / 2), c (1, H D / 2), one for each layer
};

const RegisterEncoding<AccumulatedRope> registered{kInfo};

}  // namespace
}  // namespace posbench::accumulated_rope
