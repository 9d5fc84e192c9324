// The interface of position encodings: the stages at which one enters a transformer. The base class is plain
// attention, causal or bidirectional by the shape of the model, so it is itself an encoding (NoPE). Other
// encodings override the stages that they change.
//
// Every backward receives the arguments (and results) of its forward, then the gradient of the result, then its
// outputs. It adds to its outputs, which the caller has zeroed. The exceptions are d_scores and d_attention, which
// only normalize_backward and mix_backward fill: they overwrite. A forward overwrites its outputs, which the
// caller has sized. Encodings hold options and parameter handles, never values of a sequence: one object serves
// all.
#pragma once
#include <any>
#include <deque>
#include <string>
#include <typeinfo>
#include <vector>

#include "model/model_shape.h"
#include "model/parameters.h"

namespace posbench {

/// The position of each token, as the encoding uses it.
struct Positions {
  std::vector<Real> at;            // (T)
  bool sampled_distances = false;  // at[n] is then the distance between tokens n apart, not a position
  bool whole = false;              // stage 0 depends on T: a shorter sequence cannot use the leading block
  std::vector<Positions> members;  // those of each member of a composition, where some are not 0, 1, ..., T-1

  Index size() const { return static_cast<Index>(at.size()); }
  /// The distance from key j to query i; negative if the query is before the key.
  Real distance(Index i, Index j) const {
    if (!sampled_distances) return at[i] - at[j];
    return i >= j ? at[i - j] : -at[j - i];
  }
  /// Whether the positions of a longer sequence begin with these, so that its tables can be used.
  bool begin(const Positions& longer) const {
    return sampled_distances == longer.sampled_distances && whole == longer.whole &&
           (whole ? size() == longer.size() : size() <= longer.size()) &&
           std::equal(at.begin(), at.end(), longer.at.begin()) &&
           std::equal(members.begin(), members.end(), longer.members.begin(), longer.members.end(),
                      [](const Positions& a, const Positions& b) { return a.begin(b); });
  }
  bool operator==(const Positions&) const = default;
};

/// One sequence as the model sees it; T is its length.
struct Sequence {
  std::vector<int> tokens;            // (T) ids in [0, vocabulary)
  std::vector<int> segments;          // (T) the word, operand or line a token belongs to
  std::vector<int> digit_positions;   // (T) decimal position of a digit in its number, from 1; else 0; or empty
  std::vector<int> target_positions;  // (A) the positions whose logits are computed
  bool training = false;
  int loops = 0;        // how often the layers are passed through; 0: as the model's shape says
  Positions positions;  // from stage 1
};

/// What an encoding computes once per step, for the current positions.
class Tables {
 public:
  /// Values that depend on positions alone and have no gradient (cosines, distances, indices), in a struct that
  /// the encoding defines. It is created at first use and kept.
  template <class T>
  T& constants() {
    if (constants_.type() != typeid(T)) constants_.emplace<T>();
    return *std::any_cast<T>(&constants_);
  }
  template <class T>
  const T& constants() const {
    return std::any_cast<const T&>(constants_);
  }

  /// Values that depend on parameters. tables_backward receives their gradient, of the same shapes.
  Matrices values;

 private:
  std::any constants_;
};

/// Scratch matrices for one call of a stage. Their memory is reused by later calls.
class Scratch {
 public:
  /// A matrix with undefined values, until the next release().
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

/// The input of an encoding's stages in one attention layer, for one sequence. C = width, H = heads, D = C / H.
struct AttentionInput {
  const Sequence& sequence;
  const Parameters& parameters;
  const Tables& tables;             // of stage 0, for these positions
  const Matrices& recurrent_state;  // from stage 2 or from the previous block (stage 6)
  int layer;
  const Matrix& x;         // (T, C) layer input, after normalization
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

/// A value for each pair of query and key in one layer, for plots.
struct AttentionMap {
  std::string name;
  Heads values;  // H x (T, T), row = query; if causal, entries of later keys are undefined
};

class PositionEncoding {
 public:
  explicit PositionEncoding(const ModelShape& shape) : shape_(shape) {}
  virtual ~PositionEncoding() = default;

  /// The number of matrices of the recurrent state that embed initializes.   Default: none.
  virtual int recurrent_states() const { return 0; }

  /// Projects parameters into their range, before training and after every update.   Default: no constraint.
  virtual void constrain(Parameters&) const {}

  /// 0. Tables: what depends on parameters and positions alone, computed once for all sequences of a step with the
  ///    same positions (a shorter one reads the leading block). Backward gets their summed gradient once.
  ///    Default: none.
  virtual void tables(const Parameters&, const Positions&, Tables&) const {}
  virtual void tables_backward(const Parameters&, const Positions&, const Tables&, const Matrices& /*d_values*/,
                               Gradients&) const {}

  /// 1. The position of each token.   Default: 0, 1, ..., T-1.
  virtual Positions positions(const Sequence&, Rng&) const;

  /// 2. Adds to the token embeddings x (T, C), once per sequence, and initializes the recurrent state, which the
  ///    encoding passes from block to block beside x.   Default: nothing.
  virtual void embed(const Sequence&, const Parameters&, const Tables&, Matrix& /*x*/,
                     Matrices& /*recurrent_state*/) const {}
  /// x as embed received it. d_x holds the gradient of embed's result; the gradient of x through the recurrent
  /// state is added.
  virtual void embed_backward(const Sequence&, const Parameters&, const Tables&, const Matrix& /*x*/,
                              const Matrices& /*d_recurrent_state*/, Matrix& /*d_x*/, Matrices& /*d_tables*/,
                              Gradients&) const {}

  /// 3. Scores before normalization, H x (T, T).   Default: q k^T / sqrt(D).
  virtual void score(const AttentionInput&, Heads& scores) const;
  virtual void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const;

  /// 4. Attention weights, H x (T, T). Only this stage masks (key > query, if causal).   Default: softmax.
  ///    Backward overwrites d_scores, with zeros for later keys.
  virtual void normalize(const AttentionInput&, const Heads& scores, Heads& attention) const;
  virtual void normalize_backward(const AttentionInput&, const Heads& scores, const Heads& attention,
                                  const Heads& d_attention, Heads& d_scores) const;
  /// Whether normalize_backward reads the scores; if not, their memory may be overwritten.   Default: no.
  virtual bool keeps_scores() const { return false; }

  /// 5. Head outputs, H x (T, D).   Default: attention v. Backward overwrites d_attention.
  virtual void mix(const AttentionInput&, const Heads& attention, Heads& output) const;
  virtual void mix_backward(const AttentionInput&, const Heads& attention, const Heads& d_output,
                            Heads& d_attention, AttentionGradient&) const;

  /// 6. The recurrent state for the next block. On entry `next` is a copy of in.recurrent_state. `feed_forward`
  /// (T, C)
  ///    is what this block's feed-forward layer added to x. Not called for the last block.   Default: unchanged.
  virtual void carry(const AttentionInput&, const Heads& /*attention*/, const Matrix& /*feed_forward*/,
                     Matrices& /*next*/) const {}
  /// On entry d.recurrent_state is the gradient of `next`; on return it is that of in.recurrent_state. The
  /// gradient of attention through `next` is added to d_attention, which is zeroed on entry and separate from that
  /// of stage 5.
  virtual void carry_backward(const AttentionInput&, const Heads& /*attention*/, const Matrix& /*feed_forward*/,
                              Heads& /*d_attention*/, Matrix& /*d_feed_forward*/, AttentionGradient&) const {}

  /// Intermediate values of the scores, for plots.   Default: none.
  virtual std::vector<AttentionMap> inspect(const AttentionInput&) const { return {}; }

 protected:
  Real scale() const { return 1 / std::sqrt(static_cast<Real>(shape_.head_width())); }

  ModelShape shape_;
};

}  // namespace posbench
