// Computes the reference vectors of an encoding, all values of one attention layer, in double precision.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace posbench {

/// An array, row-major.
struct GoldenArray {
  std::string name;
  std::vector<std::string> axes;  // "head", "position", "channel"
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  bool whole = false;  // ids and indices
};

/// One layer with an encoding, and one sequence.
struct GoldenRequest {
  std::string encoding;
  int heads = 2, head_width = 8;
  int length = 16;                       // T
  int trained_length = 16, longest = 0;  // in tokens; longest = 0: the greater of both lengths
  bool causal = true;
  std::uint64_t seed = 0;
  std::vector<double> positions;    // of the tokens, ascending; empty: those of the encoding
  std::vector<GoldenArray> inputs;  // values of q, k, v, x or a parameter, instead of drawn ones
};

/// Returns these arrays, as far as the encoding has them. The first ones are the inputs.
///
///   q, k, v, x, parameters.NAME        drawn from N(0, 1), parameters around their initial values;
///                                      or request.inputs
///   tokens, segments, digit_positions  of the sequence
///   positions                          of the tokens
///   embedded                           x after the encoding added to it
///   inv_freq, angles, cos, sin         of a rotation by position; attention_factor is the factor in cos and sin.
///                                      Keys have key_cos and key_sin if theirs differ.
///   rotated_q, rotated_k               after the rotation
///   distances, bias                    of a bias that is added to the scores
///   inspect.NAME                       the intermediate values that `posbench inspect` shows
///   scores, attention, output          scores include 1 / sqrt(D); attention is normalized; output is attention v
///
/// Entries of keys that a causal model hides are 0. Throws InputError for an invalid request.
std::vector<GoldenArray> golden_vectors(const GoldenRequest&);

}  // namespace posbench
