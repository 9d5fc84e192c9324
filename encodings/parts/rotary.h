// Encodings that rotate queries and keys, two components at a time.
#pragma once
#include <vector>

#include "model/position_encoding.h"

namespace posbench {

enum class Pairing {
  interleaved,  // components 2 n and 2 n + 1 (RoFormer, GPT-J)
  half_split,   // components n and n + D / 2 (GPT-NeoX, LLaMA)
};

/// y = x with pair n of row t rotated by the angle whose cosine and sine are given; components beyond the pairs
/// are copied. x, y (T, D); cosine, sine (T, pairs), where 2 pairs <= D.
void rotate(const In& x, const In& cosine, const In& sine, Pairing, Out y);
/// d_x += d_y rotated back.
void rotate_backward(const In& d_y, const In& cosine, const In& sine, Pairing, Out d_x);
/// d_angle (T, pairs) += d_y_b y_a - d_y_a y_b for the components a, b of each pair of y = rotate(x).
void rotate_angle_backward(const In& y, const In& d_y, Pairing, Out d_angle);

/// The gradients of cosine and sine from that of y = rotate(x), where they are independent tables:
/// d_cosine += d_y_a x_a + d_y_b x_b,   d_sine += d_y_b x_a - d_y_a x_b
void rotate_factors_backward(const In& x, const In& d_y, Pairing, Out d_cosine, Out d_sine);

/// w_n = base^(-2 n / width), n = 0 .. width / 2 - 1: the frequencies of RoPE.
std::vector<double> rope_frequencies(Index width, double base);
/// Each frequency becomes that of the nearest wavelength of whole tokens: 2 pi / round(2 pi / w).
void round_wavelengths(std::vector<double>& frequencies);

/// How fast the pairs of a head turn.
struct Spectrum {
  std::vector<double>
      frequencies;       // radians a position, of the leading pairs; components beyond them are not rotated
  Index width;           // d and
  double base;           // base of the w_n = base^(-2 n / d) that they were before some became zero
  double amplitude = 1;  // factor of the rotated vectors
};

/// The cosines and sines that rotate queries and keys, (T, pairs) each.
struct Rotations {
  Matrix cosine, sine;
  bool keys_differ = false;     // whether keys have others
  Matrix key_cosine, key_sine;  // where they have
  const Matrix& of_keys_cosine() const { return keys_differ ? key_cosine : cosine; }
  const Matrix& of_keys_sine() const { return keys_differ ? key_sine : sine; }
};

/// Throws std::invalid_argument, in the name of encoding `name`, where the head width is odd.
void require_pairs(const ModelShape&, const std::string& name);

/// score_h(i, j) = R(p_i) q_i . R(p_j) k_j / sqrt(D), where R(p) rotates pair n by p times its frequency and
/// multiplies by the amplitude. The cosines and sines are stage 0.
class Rotary : public PositionEncoding {
 public:
  /// Throws std::invalid_argument where the head width is odd.
  Rotary(const ModelShape&, Pairing, const std::string& name);

  virtual Spectrum spectrum() const = 0;
  /// The rotations for this spectrum, which need not be the encoding's own.
  virtual void rotations(const Positions&, const Spectrum&, Rotations&) const;

  void tables(const Parameters&, const Positions& positions, Tables& tables) const final {
    rotations(positions, spectrum(), tables.constants<Rotations>());
  }
  void score(const AttentionInput&, Heads& scores) const final;
  void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const final;

 private:
  Pairing pairing_;
};

}  // namespace posbench
