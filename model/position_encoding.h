// Defines the interface of position encodings: the functions (stages) by which an encoding changes a transformer.
// The base class is plain attention, so that it is an encoding, too (NoPE). Other encodings override the stages
// that they change.
//
// A forward function overwrites its outputs, which the caller has sized; embed adds to x, and an encoding sizes
// its tables and its recurrent state. A backward function receives the arguments of its forward function (those of
// tables and normalize also receive the result), then the gradient of the result, then its outputs. It adds to its
// outputs, which the caller has set to zero. Exceptions: normalize_backward overwrites d_scores, mix_backward
// overwrites d_attention, and embed_backward and carry_backward change gradients in place, as stated there.
// Encodings hold options and parameter handles, never values of a sequence, so that one object serves all
// sequences.
#pragma once
#include <algorithm>
#include <any>
#include <cmath>
#include <cstddef>
#include <deque>
#include <string>
#include <typeinfo>
#include <vector>

#include "base/random.h"
#include "model/model_config.h"
#include "model/parameters.h"
#include "model/rounding.h"
#include "model/tensor.h"

namespace posbench::inline POSBENCH_REAL {

/// The position of each token, as the encoding uses it.
struct Positions {
  std::vector<Real> at;            // (T)
  bool sampled_distances = false;  // at[n] is then the distance between tokens n apart, not a position
  bool depends_on_length = false;  // the tables depend on T: a shorter sequence cannot use their leading rows
  std::vector<Positions> members;  // of each member of a composition; empty if all have these positions
  std::vector<std::vector<Real>> coordinates;  // (T) each; empty if the encoding reads `at`
  /// (T) the length of the sequence that each token was in when it got its position, for tables that depend on it.
  /// Empty: T.
  std::vector<int> lengths;
  Rounding rounding = Rounding::none;  // of the values that are computed from positions

  Index size() const { return static_cast<Index>(at.size()); }
  /// Returns coordinate n of each token, (T). Without coordinates it is the position.
  const std::vector<Real>& coordinate(size_t n) const { return coordinates.empty() ? at : coordinates[n]; }
  /// Returns the distance from key j to query i; negative if the query is before the key.
  Real distance(Index i, Index j) const {
    if (!sampled_distances) return at[i] - at[j];
    return i >= j ? at[i - j] : -at[j - i];
  }
  /// Returns whether the positions of a longer sequence begin with these, so that its tables can be used.
  bool is_prefix_of(const Positions& longer) const {
    return sampled_distances == longer.sampled_distances && depends_on_length == longer.depends_on_length &&
           rounding == longer.rounding && lengths == longer.lengths &&
           (depends_on_length ? size() == longer.size() : size() <= longer.size()) &&
           std::equal(at.begin(), at.end(), longer.at.begin()) &&
           std::equal(coordinates.begin(), coordinates.end(), longer.coordinates.begin(), longer.coordinates.end(),
                      [](const auto& a, const auto& b) { return std::equal(a.begin(), a.end(), b.begin()); }) &&
           std::equal(members.begin(), members.end(), longer.members.begin(), longer.members.end(),
                      [](const Positions& a, const Positions& b) { return a.is_prefix_of(b); });
  }
  bool operator==(const Positions&) const = default;
};

/// One sequence as the model sees it; T is its length.
struct Sequence {
  std::vector<int> tokens;           // (T) ids in [0, vocabulary)
  std::vector<int> segments;         // (T) index of the word, operand or line of a token
  std::vector<int> digit_positions;  // (T) decimal position of a digit in its number, from 1; else 0; or empty
  std::vector<std::vector<int>> coordinates;  // ModelConfig::coordinates x (T) values from 1; 0: none
  std::vector<int> target_positions;          // (A) the positions whose logits are computed
  bool training = false;
  int loops = 0;           // passes through the layers; 0: ModelConfig::loops
  int first_position = 0;  // of the first token; encodings that choose positions themselves do not read it
  Positions positions;     // of the encoding
};

/// The tables that an encoding computes once per step, for the current positions: constants and learned tables.
class Tables {
 public:
  /// Returns the values that depend on positions alone and have no gradient (cosines, distances, indices), in a
  /// struct that the encoding defines. It is created at first use and kept.
  template <class T>
  T& constants() {
    if (constants_.type() != typeid(T)) constants_.emplace<T>();
    return *std::any_cast<T>(&constants_);
  }
  template <class T>
  const T& constants() const {
    return std::any_cast<const T&>(constants_);
  }

  /// The learned tables, which depend on parameters. tables_backward receives their gradients, of the same shapes.
  Matrices values;

 private:
  std::any constants_;
};

/// Scratch matrices for one call of a stage. Later calls reuse their memory.
class Scratch {
 public:
  /// Returns a matrix with undefined values, which is valid until the next release().
  Matrix& operator()(Index rows, Index cols) {
    if (used_ == matrices_.size()) matrices_.emplace_back();
    matrices_[used_].resize(rows, cols);
    return matrices_[used_++];
  }
  void release() { used_ = 0; }

 private:
  std::deque<Matrix> matrices_;
  size_t used_ = 0;
};

/// The input of the stages in one attention layer, for one sequence. C = width, H = heads (of the group, inside of
/// the wrapper `heads`), D = C / heads of the model.
struct AttentionInput {
  const Sequence& sequence;
  const Parameters& parameters;
  const Tables& tables;             // for these positions
  const Matrices& recurrent_state;  // from embed or from the previous block
  int layer;
  const Matrix& x;         // (T, C) input of the attention: normalized in a pre-norm block
  const Heads &q, &k, &v;  // H x (T, D)
  Scratch& scratch;

  Index length() const { return x.rows(); }
};

/// The gradients of the loss with respect to these values, of the same shapes.
struct AttentionGradient {
  Gradients& parameters;
  Matrices& tables;  // of Tables::values
  Matrices& recurrent_state;
  Matrix& x;
  Heads &q, &k, &v;
};

/// A value for each pair of query and key in one layer, for plots and statistics.
struct AttentionMap {
  enum class Kind {
    other,
    score,
    content,
    positional_part,    // the score minus the content term
    position_position,  // of a layer whose input is a sum of token embeddings and positions
    attention,
    count,
    gate  // from 0 to 1
  };

  std::string name;  // as it is displayed
  Heads values;      // H x (T, T), row = query; if causal, entries of future keys are undefined
  Kind kind = Kind::other;
};

class AdditiveBias;  // encodings/parts/additive_bias.h

class PositionEncoding {
 public:
  explicit PositionEncoding(const ModelConfig& config) : config_(config) {}
  virtual ~PositionEncoding() = default;

  /// Returns the number of matrices of the recurrent state that embed initializes.   Default: none.
  virtual int recurrent_states() const { return 0; }

  /// Projects parameters into their range, before training and after every update.   Default: no constraint.
  virtual void constrain(Parameters&) const {}

  /// 1. Returns the position of each token.   Default: k, k+1, ..., k+T-1, where k is Sequence::first_position.
  virtual Positions positions(const Sequence&, Rng&) const;

  /// 2. Computes the tables, which depend on parameters and positions alone, once for all sequences of a step with
  ///    the same positions. A shorter sequence reads the leading rows and columns. Backward gets their summed
  ///    gradient once.   Default: none.
  virtual void tables(const Parameters&, const Positions&, Tables&) const {}
  virtual void tables_backward(const Parameters&, const Positions&, const Tables&, const Matrices& /*d_values*/,
                               Gradients&) const {}

  /// 3. Adds to the token embeddings x (T, C), once per sequence, and initializes the recurrent state, which is
  ///    passed from block to block in addition to x.   Default: nothing.
  virtual void embed(const Sequence&, const Parameters&, const Tables&, Matrix& /*x*/,
                     Matrices& /*recurrent_state*/) const {}
  /// x is the input of embed. On entry d_x is the gradient of embed's result; the gradient of x through the
  /// recurrent state is added.
  virtual void embed_backward(const Sequence&, const Parameters&, const Tables&, const Matrix& /*x*/,
                              const Matrices& /*d_recurrent_state*/, Matrix& /*d_x*/, Matrices& /*d_tables*/,
                              Gradients&) const {}

  /// 4. Computes the scores, H x (T, T).   Default: q k^T / sqrt(D).
  virtual void score(const AttentionInput&, Heads& scores) const;
  virtual void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const;

  /// 5. Computes the attention weights, H x (T, T). Only this stage masks future keys, if causal.   Default:
  ///    softmax. Backward overwrites d_scores, with zeros for future keys.
  virtual void normalize(const AttentionInput&, const Heads& scores, Heads& attention) const;
  virtual void normalize_backward(const AttentionInput&, const Heads& scores, const Heads& attention,
                                  const Heads& d_attention, Heads& d_scores, AttentionGradient&) const;

  /// 6. Computes the head outputs, H x (T, D).   Default: attention v. Backward overwrites d_attention.
  virtual void mix(const AttentionInput&, const Heads& attention, Heads& output) const;
  virtual void mix_backward(const AttentionInput&, const Heads& attention, const Heads& d_output,
                            Heads& d_attention, AttentionGradient&) const;

  /// 7. Computes the recurrent state for the next block; not called for the last block. On entry `next` is a copy
  ///    of in.recurrent_state. `feed_forward` (T, C) is the output of this block's feed-forward layer; it is empty
  ///    in a block without such a layer, and then backward does not read d_feed_forward.   Default: unchanged.
  virtual void carry(const AttentionInput&, const Heads& /*attention*/, const Matrix& /*feed_forward*/,
                     Matrices& /*next*/) const {}
  /// On entry d.recurrent_state is the gradient of `next`; on return it is that of in.recurrent_state. The
  /// gradient of attention through `next` is added to d_attention, which is zero on entry and separate from that
  /// of mix_backward.
  virtual void carry_backward(const AttentionInput&, const Heads& /*attention*/, const Matrix& /*feed_forward*/,
                              Heads& /*d_attention*/, Matrix& /*d_feed_forward*/, AttentionGradient&) const {}

  /// Returns the number of leading heads that `asentmax` does not scale: those with a penalty that grows with
  /// distance, if the other heads have none.   Default: 0.
  virtual Index num_penalized_heads() const { return 0; }

  /// Computes the content term of the scores, H x (T, T), for plots and statistics: the product of query and key
  /// with the scale of the encoding, as if both had the same position, without terms that the encoding adds. The
  /// rest of a score is its positional part.   Default: q k^T / sqrt(D).
  virtual void content(const AttentionInput&, Heads& content) const;

  /// Returns intermediate values of the scores, for plots.   Default: none.
  virtual std::vector<AttentionMap> inspect(const AttentionInput&) const { return {}; }

  /// The encoding itself, if its scores are a multiple of q k^T plus a bias that does not depend on the tokens.
  /// Default: null.
  virtual const AdditiveBias* as_additive_bias() const { return nullptr; }

 protected:
  /// Returns the coordinates that the task states, for Positions::coordinates.
  std::vector<std::vector<Real>> stated_coordinates(const Sequence&) const;

  /// Returns 1 / sqrt(D).
  Real scale() const { return 1 / std::sqrt(static_cast<Real>(config_.head_width())); }

  ModelConfig config_;
};

}  // namespace posbench::inline POSBENCH_REAL
