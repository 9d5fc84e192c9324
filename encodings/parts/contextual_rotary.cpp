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

}  // namespace posbench::inline POSBENCH_REAL
