#include "encodings/parts/scaled_scores.h"

#include <algorithm>

#include "model/attention.h"
#include "model/hidden.h"

namespace posbench::inline POSBENCH_REAL {

void ScaledScores::score(const AttentionInput& in, Heads& scores) const {
  inner().score(in, scores);
  multiply_by_factors(in, scores);
}

void ScaledScores::content(const AttentionInput& in, Heads& content) const {
  inner().content(in, content);
  multiply_by_factors(in, content);
}

void ScaledScores::multiply_by_factors(const AttentionInput& in, Heads& scores) const {
  const Matrix& factors = this->factors(in);
  for (size_t h = 0; h < scores.size(); ++h) {
    for (Index i = 0; i < in.length(); ++i) {
      const Real factor = factors(i, static_cast<Index>(h));
      Real* row = scores[h].row(i).data();
      const Index keys = num_visible_keys(i, in.length(), config_.causal);
      for (Index j = 0; j < keys; ++j) row[j] = is_hidden(row[j]) ? row[j] : factor * row[j];
    }
  }
}

void ScaledScores::score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const {
  const Index T = in.length(), H = config_.heads;
  Heads scores, d_inner;
  for (Heads* heads : {&scores, &d_inner}) resize(*heads, H, T, T);
  inner().score(in, scores);
  const Matrix& factors = this->factors(in);
  Matrix& d_factors = in.scratch(T, H);
  for (Index h = 0; h < H; ++h) {
    for (Index i = 0; i < T; ++i) {
      const Index keys = num_visible_keys(i, T, config_.causal);
      const Real factor = factors(i, h), *score = scores[h].row(i).data(), *d_score = d_scores[h].row(i).data();
      Real *d_row = d_inner[h].row(i).data(), sum = 0;
      for (Index j = 0; j < keys; ++j) {
        const bool hidden = is_hidden(score[j]);
        sum += hidden ? 0 : d_score[j] * score[j];
        d_row[j] = hidden ? d_score[j] : factor * d_score[j];
      }
      std::fill(d_row + keys, d_row + T, Real(0));
      d_factors(i, h) = sum;
    }
  }
  inner().score_backward(in, d_inner, d);
  factors_backward(in, d_factors, d);
}

}  // namespace posbench::inline POSBENCH_REAL
