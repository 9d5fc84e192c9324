// The socket: where a position encoding enters a transformer. The base class is plain attention, causal or
// bidirectional as the model's shape says, so it is itself an encoding (NoPE), and an encoding is what it
// overrides.
//
// Every backward receives what its forward received (and gave), then the gradient of the result, then what it
// fills. It adds into what it fills, and the caller zeroes, but for d_scores and d_attention, which only
// normalize_backward and mix_backward fill: they overwrite. A forward overwrites what it fills, which the caller
// has sized. Encodings hold options and parameter handles, never the values of a sequence: one object serves all.
#pragma once
#include <any>
#include <deque>
#include <string>
#include <typeinfo>
#include <vector>

#include "model/parameters.h"

namespace posbench {

/// Attention, then feed-forward; or both side by side, from the same input.
enum class BlockKind { sequential, parallel };

/// What model and encoding must know before there are parameters.
struct ModelShape {
  int vocabulary = 0;
  int layers = 2;
  int width = 64;        // C
  int heads = 4;         // H
  int feed_forward = 0;  // inner width; 0: 4 C
  bool causal = true;
  bool pre_norm = true;
  bool gelu = true;  // else ReLU
  bool tied_embeddings = false;
  BlockKind block = BlockKind::sequential;
  double dropout = 0;      // of the embeddings and of each block's two contributions, in training only
  int trained_length = 0;  // T of the longest training sequence that is expected
  int longest = 0;         // T of the longest sequence of any split that is expected

  int head_width() const { return width / heads; }  // D
  int inner_width() const { return feed_forward > 0 ? feed_forward : 4 * width; }
};

/// The index that each token has for the encoding.
struct Positions {
  std::vector<Real> at;            // (T)
  bool sampled_distances = false;  // at[n] is then the distance of tokens n apart, not a position
  bool whole = false;              // stage 0 depends on T: a shorter sequence does not read the leading block

  Index size() const { return static_cast<Index>(at.size()); }
  /// How far query i is after key j; negative where it is before.
  Real distance(Index i, Index j) const {
    if (!sampled_distances) return at[i] - at[j];
    return i >= j ? at[i - j] : -at[j - i];
  }
  /// Whether a longer sequence's positions begin with these, so that its tables serve.
  bool begin(const Positions& longer) const {
    return sampled_distances == longer.sampled_distances && whole == longer.whole &&
           (whole ? size() == longer.size() : size() <= longer.size()) &&
           std::equal(at.begin(), at.end(), longer.at.begin());
  }
};

/// One sequence as the model sees it; T is its length.
struct Sequence {
  std::vector<int> tokens;           // (T) ids in [0, vocabulary)
  std::vector<int> segments;         // (T) the word, operand or line a token belongs to
  std::vector<int> digit_positions;  // (T) a digit's decimal position in its number, from 1; 0 elsewhere; or empty
  std::vector<int> target_positions;  // (A) the positions in the sequence whose logits are wanted
  bool training = false;
  Positions positions;  // what stage 1 gave
};

/// What an encoding computes once a step, for the positions at hand.
class Tables {
 public:
  /// What depends on positions alone and has no gradient (cosines, distances, indices), in a struct of the
  /// encoding's own. It is made when it is first asked for, and then kept.
  template <class T>
  T& constants() {
    if (constants_.type() != typeid(T)) constants_.emplace<T>();
    return *std::any_cast<T>(&constants_);
  }
  template <class T>
  const T& constants() const {
    return std::any_cast<const T&>(constants_);
  }

  /// What depends on parameters: its gradient, of the same shapes, comes back to tables_backward.
  Matrices values;

 private:
  std::any constants_;
};

/// Scratch matrices for one call of a stage. They keep their memory from call to call.
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

/// What an attention layer offers its encoding, for one sequence. C = width, H = heads, D = C / H.
struct AttentionInput {
  const Sequence& sequence;
  const Parameters& parameters;
  const Tables& tables;             // of stage 0, for these positions
  const Matrices& recurrent_state;  // from stage 2 or from the block before (stage 6)
  int layer;
  const Matrix& x;         // (T, C) layer input, after normalization
  const Heads &q, &k, &v;  // H x (T, D)
  Scratch& scratch;

  Index length() const { return x.rows(); }
};

/// The gradient of the loss with respect to each of these, shape for shape.
struct AttentionGradient {
  Gradients& parameters;
  Matrices& tables;  // of the tables' values
  Matrices& recurrent_state;
  Matrix& x;
  Heads &q, &k, &v;
};

/// What one layer computed for each pair of query and key, for a person to look at.
struct AttentionMap {
  std::string name;
  Heads values;  // H x (T, T), row = query; where causal, entries of later keys mean nothing
};

class PositionEncoding {
 public:
  explicit PositionEncoding(const ModelShape& shape) : shape_(shape) {}
  virtual ~PositionEncoding() = default;

  /// Projects parameters back into their range: once before training and after every update.   Default: none has
  /// one.
  virtual void constrain(Parameters&) const {}

  /// 0. What depends on parameters and positions alone, computed once for all sequences of a step that share their
  ///    positions (a shorter one reads the leading block); its gradient comes back once, summed.   Default: none.
  virtual void tables(const Parameters&, const Positions&, Tables&) const {}
  virtual void tables_backward(const Parameters&, const Positions&, const Tables&, const Matrices& /*d_values*/,
                               Gradients&) const {}

  /// 1. Which index does each token have?   Default: 0, 1, ..., T-1.
  virtual Positions positions(const Sequence&, Rng&) const;

  /// 2. Add to the token embeddings x (T, C), once per sequence, and start the recurrent state: what the encoding
  ///    hands from block to block beside x.   Default: nothing.
  virtual void embed(const Sequence&, const Parameters&, const Tables&, Matrix& /*x*/,
                     Matrices& /*recurrent_state*/) const {}
  /// x as embed received it; d_x is the gradient of its result, and that of x through the recurrent state is
  /// added.
  virtual void embed_backward(const Sequence&, const Parameters&, const Tables&, const Matrix& /*x*/,
                              const Matrices& /*d_recurrent_state*/, Matrix& /*d_x*/, Matrices& /*d_tables*/,
                              Gradients&) const {}

  /// 3. Scores before normalization, H x (T, T).   Default: q k^T / sqrt(D).
  virtual void score(const AttentionInput&, Heads& scores) const;
  virtual void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const;

  /// 4. Attention, H x (T, T): this stage alone masks (key > query, where causal).   Default: softmax.
  ///    Backward overwrites d_scores, with zeros for later keys.
  virtual void normalize(const AttentionInput&, const Heads& scores, Heads& attention) const;
  virtual void normalize_backward(const AttentionInput&, const Heads& scores, const Heads& attention,
                                  const Heads& d_attention, Heads& d_scores) const;
  /// Whether normalize_backward reads the scores: else it finds other values there.   Default: no.
  virtual bool keeps_scores() const { return false; }

  /// 5. Head outputs, H x (T, D).   Default: attention v. Backward overwrites d_attention.
  virtual void mix(const AttentionInput&, const Heads& attention, Heads& output) const;
  virtual void mix_backward(const AttentionInput&, const Heads& attention, const Heads& d_output,
                            Heads& d_attention, AttentionGradient&) const;

  /// 6. The recurrent state for the next block: `next` comes as a copy of in.recurrent_state. `feed_forward` (T,
  ///    C) is what this block's feed-forward layer added to x. Not called for the last block.   Default:
  ///    unchanged.
  virtual void carry(const AttentionInput&, const Heads& /*attention*/, const Matrix& /*feed_forward*/,
                     Matrices& /*next*/) const {}
  /// d.recurrent_state comes as the gradient of `next` and becomes that of in.recurrent_state. The gradient of
  /// attention through `next` is added to d_attention, which comes zeroed and is not that of stage 5.
  virtual void carry_backward(const AttentionInput&, const Heads& /*attention*/, const Matrix& /*feed_forward*/,
                              Heads& /*d_attention*/, Matrix& /*d_feed_forward*/, AttentionGradient&) const {}

  /// What the encoding computed on its way to the scores.   Default: nothing that the scores do not show.
  virtual std::vector<AttentionMap> inspect(const AttentionInput&) const { return {}; }

 protected:
  Real scale() const { return 1 / std::sqrt(static_cast<Real>(shape_.head_width())); }

  ModelShape shape_;
};

}  // namespace posbench
