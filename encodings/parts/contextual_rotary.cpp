#include "encodings/parts/contextual_rotary.h"

#include <string>

#include "model/attention.h"
#include "model/numeric.h"

namespace posbench::inline POSBENCH_REAL {

ContextualRotary::ContextualRotary(const ModelConfig& config, Pairing pairing, const std::string& name)
    : PositionEncoding(config), pairing_(pairing) {
  require_pairs(config, name);
}

void ContextualRotary::score(const AttentionInput& in, Heads& scores) const {
  const Index T = in.length(), D = config_.head_width();
  const Matrix& angles = this->angles(in);
  Matrix &cosine = in.scratch(T, angles.cols()), &sine = in.scratch(T, angles.cols());
  Matrix &q = in.scratch(T, D), &k = in.scratch(T, D);
  sine_cosine(angles, sine, cosine);
  for (size_t h = 0; h < scores.size(); ++h) {
    rotate(in.q[h], of_head(cosine, h), of_head(sine, h), pairing_, q);
    rotate(in.k[h], of_head(cosine, h), of_head(sine, h), pairing_, k);
    dot_product(q, k, scale(), config_.causal, scores[h]);
  }
}

void ContextualRotary::score_backward(const AttentionInput& in, const Heads& d_scores,
                                      AttentionGradient& d) const {
  const Index T = in.length(), D = config_.head_width();
  const Matrix& angles = this->angles(in);
  Matrix &cosine = in.scratch(T, angles.cols()), &sine = in.scratch(T, angles.cols());
  Matrix &q = in.scratch(T, D), &k = in.scratch(T, D), &d_q = in.scratch(T, D), &d_k = in.scratch(T, D);
  Matrix& d_angles = in.scratch(T, angles.cols());
  sine_cosine(angles, sine, cosine);
  d_angles.setZero();
  for (size_t h = 0; h < d_scores.size(); ++h) {
    const auto c = of_head(cosine, h), s = of_head(sine, h);
    rotate(in.q[h], c, s, pairing_, q);
    rotate(in.k[h], c, s, pairing_, k);
    d_q.setZero();
    d_k.setZero();
    dot_product_backward(q, k, scale(), config_.causal, d_scores[h], d_q, d_k);
    rotate_angle_backward(q, d_q, pairing_, of_head(d_angles, h));
    rotate_angle_backward(k, d_k, pairing_, of_head(d_angles, h));
    rotate_backward(d_q, c, s, pairing_, d.q[h]);
    rotate_backward(d_k, c, s, pairing_, d.k[h]);
  }
  angles_backward(in, d_angles, d);
}

void ContextualRotary::mix_values(const AttentionInput& in, const Heads& attention, Heads& output) const {
  const Matrix& angles = this->angles(in);
  Matrix &cosine = in.scratch(in.length(), angles.cols()), &sine = in.scratch(in.length(), angles.cols());
  RotaryScratch scratch(in.scratch, in.length(), config_.head_width());
  sine_cosine(angles, sine, cosine);
  for (size_t h = 0; h < output.size(); ++h) {
    const auto c = of_head(cosine, h), s = of_head(sine, h);
    mix_rotated(attention[h], in.v[h], {c, s, c, s, pairing_, config_.causal, scratch}, output[h]);
  }
}

// An output is turned by minus the query's angle, so its gradient enters with the other sign.
void ContextualRotary::mix_values_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output,
                                           Heads& d_attention, AttentionGradient& d) const {
  const Matrix& angles = this->angles(in);
  Matrix &cosine = in.scratch(in.length(), angles.cols()), &sine = in.scratch(in.length(), angles.cols());
  Matrix& d_angles = in.scratch(in.length(), angles.cols());
  RotaryScratch scratch(in.scratch, in.length(), config_.head_width());
  sine_cosine(angles, sine, cosine);
  d_angles.setZero();
  for (size_t h = 0; h < d_output.size(); ++h) {
    const auto c = of_head(cosine, h), s = of_head(sine, h);
    mix_rotated_backward(attention[h], in.v[h], {c, s, c, s, pairing_, config_.causal, scratch}, d_output[h],
                         d_attention[h], d.v[h]);
    rotate_angle_backward(scratch.k, scratch.d_k, pairing_, of_head(d_angles, h));
    weighted_sum(attention[h], scratch.k, config_.causal, scratch.q);
    rotate_angle_backward(scratch.d_q, scratch.q, pairing_, of_head(d_angles, h));
  }
  angles_backward(in, d_angles, d);
}

}  // namespace posbench::inline POSBENCH_REAL
