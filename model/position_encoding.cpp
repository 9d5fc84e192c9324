#include "model/position_encoding.h"

#include <numeric>

#include "model/attention.h"

namespace posbench::inline POSBENCH_REAL {

Positions PositionEncoding::positions(const Sequence& sequence, Rng&) const {
  Positions positions;
  positions.at.resize(sequence.tokens.size());
  std::iota(positions.at.begin(), positions.at.end(), static_cast<Real>(sequence.first_position));
  return positions;
}

std::vector<std::vector<Real>> PositionEncoding::stated_coordinates(const Sequence& sequence) const {
  std::vector<std::vector<Real>> coordinates;
  for (const std::vector<int>& values : sequence.coordinates)
    coordinates.emplace_back(values.begin(), values.end());
  return coordinates;
}

void PositionEncoding::score(const AttentionInput& in, Heads& scores) const {
  for (size_t h = 0; h < scores.size(); ++h) dot_product(in.q[h], in.k[h], scale(), config_.causal, scores[h]);
}

void PositionEncoding::content(const AttentionInput& in, Heads& content) const {
  PositionEncoding::score(in, content);
}

void PositionEncoding::score_backward(const AttentionInput& in, const Heads& d_scores,
                                      AttentionGradient& d) const {
  for (size_t h = 0; h < d_scores.size(); ++h) {
    dot_product_backward(in.q[h], in.k[h], scale(), config_.causal, d_scores[h], d.q[h], d.k[h]);
  }
}

void PositionEncoding::normalize(const AttentionInput&, const Heads& scores, Heads& attention) const {
  for (size_t h = 0; h < scores.size(); ++h) softmax(scores[h], config_.causal, attention[h]);
}

void PositionEncoding::normalize_backward(const AttentionInput&, const Heads&, const Heads& attention,
                                          const Heads& d_attention, Heads& d_scores, AttentionGradient&) const {
  for (size_t h = 0; h < attention.size(); ++h) {
    softmax_backward(attention[h], config_.causal, d_attention[h], d_scores[h]);
  }
}

void PositionEncoding::mix(const AttentionInput& in, const Heads& attention, Heads& output) const {
  for (size_t h = 0; h < output.size(); ++h) weighted_sum(attention[h], in.v[h], config_.causal, output[h]);
}

void PositionEncoding::mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output,
                                    Heads& d_attention, AttentionGradient& d) const {
  for (size_t h = 0; h < d_output.size(); ++h) {
    weighted_sum_backward(attention[h], in.v[h], config_.causal, d_output[h], d_attention[h], d.v[h]);
  }
}

}  // namespace posbench::inline POSBENCH_REAL
