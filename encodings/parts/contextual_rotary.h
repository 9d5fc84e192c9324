// Encodings that rotate queries and keys by angles that depend on the tokens.
#pragma once
#include <string>

#include "encodings/parts/rotary.h"

namespace posbench {

/// Every row becomes the sum of the rows up to it: PyTorch's cumsum(dim=0).
void cumsum_over_rows(Out rows);
/// The gradient of the sums becomes that of the rows: every row becomes the sum of the rows from it on.
void cumsum_over_rows_backward(Out d_rows);

/// score_h(i, j) = R(angle_h(i)) q_i . R(angle_h(j)) k_j / sqrt(D), where R rotates each pair by its own angle.
class ContextualRotary : public PositionEncoding {
 public:
  /// Throws std::invalid_argument where the head width is odd.
  ContextualRotary(const ModelShape&, Pairing, const std::string& name);

  /// The angles of a layer, in scratch or in the recurrent state: (T, pairs) for all heads, or (T, H pairs), head
  /// by head.
  virtual const Matrix& angles(const AttentionInput&) const = 0;
  /// Adds the gradient of what the angles were computed from. d_angles has their shape, and may be overwritten.
  virtual void angles_backward(const AttentionInput&, Matrix& d_angles, AttentionGradient&) const = 0;

  void score(const AttentionInput&, Heads& scores) const final;
  void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const final;

 protected:
  Index pairs() const { return shape_.head_width() / 2; }
  /// The columns of head h where there are columns for every head, else those of all.
  auto of_head(const Matrix& m, size_t h) const {
    return m.middleCols(m.cols() > pairs() ? static_cast<Index>(h) * pairs() : 0, pairs());
  }
  auto of_head(Matrix& m, size_t h) const {
    return m.middleCols(m.cols() > pairs() ? static_cast<Index>(h) * pairs() : 0, pairs());
  }

 private:
  Pairing pairing_;
};

}  // namespace posbench
