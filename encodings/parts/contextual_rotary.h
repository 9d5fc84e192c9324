// Encodings that rotate queries and keys by angles that depend on the tokens.
#pragma once
#include <string>

#include "encodings/parts/rotary.h"

namespace posbench::inline POSBENCH_REAL {

/// score_h(i, j) = R(angle_h(i)) q_i . R(angle_h(j)) k_j / sqrt(D), where R rotates each pair by its own angle.
class ContextualRotary : public PositionEncoding {
 public:
  /// Throws InputError if the head width is odd.
  ContextualRotary(const ModelConfig&, Pairing, const std::string& name);

  /// Returns the angles of a layer, in scratch: (T, pairs) for all heads, or (T, H pairs).
  virtual const Matrix& angles(const AttentionInput&) const = 0;
  /// Adds the gradients of the inputs of the angles. May overwrite d_angles, which has the shape of the angles.
  virtual void angles_backward(const AttentionInput&, Matrix& d_angles, AttentionGradient&) const = 0;

  void score(const AttentionInput&, Heads& scores) const final;
  void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const final;

 protected:
  /// The stage mix with rotated values.
  void mix_values(const AttentionInput&, const Heads& attention, Heads& output) const;
  void mix_values_backward(const AttentionInput&, const Heads& attention, const Heads& d_output,
                           Heads& d_attention, AttentionGradient&) const;

  Index pairs() const { return config_.head_width() / 2; }
  /// Returns the columns of head h, or all columns if all heads share them.
  auto of_head(const Matrix& m, size_t h) const {
    return m.middleCols(m.cols() > pairs() ? static_cast<Index>(h) * pairs() : 0, pairs());
  }
  auto of_head(Matrix& m, size_t h) const {
    return m.middleCols(m.cols() > pairs() ? static_cast<Index>(h) * pairs() : 0, pairs());
  }

 private:
  Pairing pairing_;
};

}  // namespace posbench::inline POSBENCH_REAL
