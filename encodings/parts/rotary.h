// Provides the base class of encodings that rotate queries and keys, two components at a time.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

enum class Pairing {
  interleaved,  // components 2 n and 2 n + 1 (RoFormer, GPT-J)
  half_split,   // components n and n + D / 2 (GPT-NeoX, LLaMA)
};

/// Sets y to x with pair n of row t rotated by the angle with the given cosine and sine. Components beyond the
/// pairs are copied.   x, y (T, D), cosine, sine (T, pairs), 2 pairs <= D.
void rotate(const In& x, const In& cosine, const In& sine, Pairing, Out y);
/// d_x += d_y, rotated back.
void rotate_backward(const In& d_y, const In& cosine, const In& sine, Pairing, Out d_x);
/// d_angle (T, pairs) += d_y_b y_a - d_y_a y_b for the components a, b of each pair of y = rotate(x).
void rotate_angle_backward(const In& y, const In& d_y, Pairing, Out d_angle);

/// Adds the gradients of independent tables of cosines and sines to d_cosine and d_sine, for y = rotate(x):
/// d_cosine += d_y_a x_a + d_y_b x_b,   d_sine += d_y_b x_a - d_y_a x_b
void rotate_factors_backward(const In& x, const In& d_y, Pairing, Out d_cosine, Out d_sine);

/// Returns the frequencies of RoPE, w_n = base^(-2n / width), n = 0 .. width / 2 - 1.
std::vector<double> rope_frequencies(Index width, double base);
/// Changes each frequency w to that of the nearest wavelength of whole tokens, 2 pi / round(2 pi / w).
void round_wavelengths(std::vector<double>& frequencies);

/// States how fast the pairs of a head turn.
struct Spectrum {
  std::vector<double> frequencies;  // radians for each position, of the leading pairs; the others are not rotated
  Index width;                      // d in base^(-2n / d), also if some frequencies were then set to 0
  double base;                      // base in base^(-2n / d)
  double amplitude = 1;             // factor of the rotated vectors
};

/// The cosines and sines that rotate queries and keys, (T, pairs) each.
struct Rotations {
  Matrix cosine, sine;
  Real amplitude = 1;           // of the spectrum that they are computed from
  bool keys_differ = false;     // keys have their own cosines and sines
  Matrix key_cosine, key_sine;  // (T, pairs) if keys differ
  const Matrix& of_keys_cosine() const { return keys_differ ? key_cosine : cosine; }
  const Matrix& of_keys_sine() const { return keys_differ ? key_sine : sine; }
};

/// Matrices (T, D) for one head at a time: the rotated queries and keys, and in backward their gradients.
struct RotaryScratch {
  Matrix &q, &k, &d_q, &d_k;
  RotaryScratch(Scratch& scratch, Index T, Index D)
      : q(scratch(T, D)), k(scratch(T, D)), d_q(scratch(T, D)), d_k(scratch(T, D)) {}
};

/// The values that a query sums: as they are, or rotated as keys are, with the sum rotated back.
enum class RotaryValues { plain, rotated };
/// Describes the option `values`.
void describe_values(OptionTable&, RotaryValues&);

/// The rotations of queries and of keys by which values are rotated.
struct ValueRotations {
  In cosine, sine, key_cosine, key_sine;  // (T, pairs)
  Pairing pairing;
  bool causal;
  RotaryScratch& scratch;
};

/// output_i = R(p_i)^T (sum over j of attention(i, j) R(p_j) v_j), for one head.   v, output (T, D)
void mix_rotated(const In& attention, const In& v, const ValueRotations&, Out output);
/// With the gradients d_s_i = R(p_i) d_output_i of the sums and d_r_j = sum over i of attention(i, j) d_s_i of the
/// rotated values:   d_attention(i, j) = d_s_i . R(p_j) v_j,   d_v_j += R(p_j)^T d_r_j
/// Leaves the rotated values in scratch.k, d_r in scratch.d_k and d_s in scratch.d_q.
void mix_rotated_backward(const In& attention, const In& v, const ValueRotations&, const In& d_output,
                          Out d_attention, Out d_v);

/// Throws InputError, in the name of encoding `name`, if the head width is odd.
void require_pairs(const ModelConfig&, const std::string& name);

/// Returns the position halfway between the first and the last token.
inline double middle_of(const Positions& positions) {
  return (static_cast<double>(positions.at.front()) + static_cast<double>(positions.at.back())) / 2;
}

/// score_h(i, j) = R(p_i) q_i . R(p_j) k_j / sqrt(D), where R(p) rotates pair n by p times its frequency and
/// multiplies by the amplitude. If positions have A coordinates, p of pair n is coordinate n mod A. tables()
/// computes the cosines and sines.
class Rotary : public PositionEncoding {
 public:
  /// Throws InputError if the head width is odd.
  Rotary(const ModelConfig&, Pairing, const std::string& name);

  virtual Spectrum spectrum() const = 0;
  /// Sets the rotations for a spectrum, which may differ from the encoding's. Factors that decay with the position
  /// count it from `middle`, which must be the same for queries and keys.
  virtual void rotations(const Positions&, const Spectrum&, double middle, Rotations&) const;

  void tables(const Parameters&, const Positions& positions, Tables& tables) const final {
    rotations(positions, spectrum(), middle_of(positions), tables.constants<Rotations>());
  }
  void score(const AttentionInput&, Heads& scores) const final;
  void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const final;
  void content(const AttentionInput& in, Heads& values) const final {
    content(in, in.tables.constants<Rotations>(), values);
  }
  /// Computes the content term for these rotations.
  void content(const AttentionInput&, const Rotations&, Heads&) const;

  /// Computes the scores of head h, with these rotations of queries and keys.
  void score_head(const AttentionInput&, size_t h, const Rotations& of_queries, const Rotations& of_keys,
                  RotaryScratch&, Out scores) const;
  void score_head_backward(const AttentionInput&, size_t h, const Rotations& of_queries, const Rotations& of_keys,
                           const In& d_scores, RotaryScratch&, AttentionGradient&) const;

 protected:
  /// The stage mix with rotated values.
  void mix_values(const AttentionInput&, const Heads& attention, Heads& output) const;
  void mix_values_backward(const AttentionInput&, const Heads& attention, const Heads& d_output,
                           Heads& d_attention, AttentionGradient&) const;

 private:
  ValueRotations value_rotations(const AttentionInput&, RotaryScratch&) const;

  Pairing pairing_;
};

/// A rotary encoding, or one with rotations that depend on the tokens, with the option `values`.
template <class Base>
class WithValues : public Base {
 public:
  template <class... Arguments>
  explicit WithValues(RotaryValues values, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), rotates_(values == RotaryValues::rotated) {}

  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const final {
    rotates_ ? Base::mix_values(in, attention, output) : Base::mix(in, attention, output);
  }
  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const final {
    rotates_ ? Base::mix_values_backward(in, attention, d_output, d_attention, d)
             : Base::mix_backward(in, attention, d_output, d_attention, d);
  }

 private:
  bool rotates_;
};

/// Returns the rotary encoding that `text` names, for the wrapper `name`. Throws InputError if it is not rotary.
std::unique_ptr<PositionEncoding> make_rotary(const std::string& name, const std::string& text, const ModelConfig&,
                                              ParameterLayout&);

/// The options that the variants of RoPE share.
struct RopeOptions {
  double base = 10000;
  Pairing pairing = Pairing::interleaved;
  void describe(OptionTable&);
};

/// Rotates pair n by p base^(-2n / D). A subclass may change these frequencies.
class RopeVariant : public Rotary {
 public:
  RopeVariant(const ModelConfig& config, const RopeOptions& options, const std::string& name)
      : Rotary(config, options.pairing, name), base_(options.base) {}

  Spectrum spectrum() const override;

 private:
  double base_;
};

}  // namespace posbench::inline POSBENCH_REAL
