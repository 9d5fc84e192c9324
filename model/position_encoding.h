// The socket: where a position encoding enters a transformer. The base class is plain attention, causal or
// bidirectional as the model's shape says, so it is itself an encoding (NoPE), and an encoding is what it
// overrides.
//
// Every backward receives what its forward received (and gave), then the gradient of the result, then what it
// fills. It adds into what it fills, and the caller zeroes, but for d_scores and d_attention, which only
// normalize_backward and mix_backward fill: they overwrite. A forward overwrites what it fills, which the caller
// has sized. Encodings hold options and parameter handles, never the values of a sequence: one object serves all.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "model/parameters.h"

namespace posbench {

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
  double dropout = 0;      // of the embeddings and of each block's two contributions, in training only
  int trained_length = 0;  // T of the longest training sequence that is expected
  int longest = 0;         // T of the longest sequence of any split that is expected

  int head_width() const { return width / heads; }  // D
  int inner_width() const { return feed_forward > 0 ? feed_forward : 4 * width; }
};

/// The index that each token is told it has.
struct Positions {
  std::vector<Real> at;            // (T)
  bool sampled_distances = false;  // at[n] is then the distance of tokens n apart, not a place
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
  std::vector<int> tokens;    // (T) ids in [0, vocabulary)
  std::vector<int> segments;  // (T) the word, operand or line a token belongs to
  std::vector<int> places;    // (T) a digit's decimal place in its number, from 1; 0 elsewhere; or empty
  std::vector<int> asked;     // the places whose logits are wanted
  bool training = false;
  Positions positions;  // what stage 1 answered
};

/// What an encoding works out once a step, and what it carries from block to block: matrices of its own choosing.
using Tables = std::vector<Matrix>;

/// Scratch matrices for one call of a stage. They keep their memory from call to call.
class Scratch {
 public:
  /// A matrix with undefined values, until the next release().
  Matrix& operator()(Index rows, Index cols) {
    if (used_ == matrices_.size()) matrices_.emplace_back();
    matrices_[used_].resize(rows, cols);
    return matrices_[used_++];
  }
  /// The same for each head.
  Heads& heads(Index count, Index rows, Index cols) {
    if (used_heads_ == heads_.size()) heads_.emplace_back();
    resize(heads_[used_heads_], count, rows, cols);
    return heads_[used_heads_++];
  }
  void release() { used_ = used_heads_ = 0; }

 private:
  std::deque<Matrix> matrices_;
  std::deque<Heads> heads_;
  size_t used_ = 0, used_heads_ = 0;
};

/// What an attention layer offers its encoding, for one sequence. C = width, H = heads, D = C / H.
struct AttentionInput {
  const Sequence& sequence;
  const Parameters& parameters;
  const Tables& tables;   // what stage 0 worked out for these positions
  const Tables& carried;  // what stage 2 or the block before handed on (stage 6)
  int layer;
  const Matrix& x;         // (T, C) layer input, after normalization
  const Heads &q, &k, &v;  // H x (T, D)
  Scratch& scratch;

  Index length() const { return x.rows(); }
};

/// The gradient of the loss with respect to each of these, shape for shape.
struct AttentionGradient {
  Gradients& parameters;
  Tables& tables;
  Tables& carried;
  Matrix& x;
  Heads &q, &k, &v;
};

/// Something that happened in one layer, for a person to look at.
struct Insight {
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

  /// 0. What depends on parameters and positions alone, worked out once for all sequences of a step that share
  /// their
  ///    positions (a shorter one reads the leading block); its gradient comes back once, summed.   Default: none.
  virtual void tables(const Parameters&, const Positions&, Tables&) const {}
  virtual void tables_backward(const Parameters&, const Positions&, const Tables& /*tables*/,
                               const Tables& /*d_tables*/, Gradients&) const {}

  /// 1. Which index does each token have?   Default: 0, 1, ..., T-1.
  virtual Positions positions(const Sequence&, Rng&) const;

  /// 2. Add to the token embeddings x (T, C), once per sequence, and start what is carried.   Default: nothing.
  virtual void embed(const Sequence&, const Parameters&, const Tables&, Matrix& /*x*/, Tables& /*carried*/) const {
  }
  /// x as embed received it; d_x is the gradient of its result, and what `carried` owes to x is added to it.
  virtual void embed_backward(const Sequence&, const Parameters&, const Tables&, const Matrix& /*x*/,
                              const Tables& /*d_carried*/, Matrix& /*d_x*/, Tables& /*d_tables*/,
                              Gradients&) const {}

  /// 3. Scores before normalization, H x (T, T).   Default: q k^T / sqrt(D).
  virtual void score(const AttentionInput&, Heads& scores) const;
  virtual void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const;

  /// 4. Attention, H x (T, T): the one place that masks (key > query, where causal).   Default: softmax.
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

  /// 6. What the encoding carries beside x, for the next block: `next` comes as a copy of in.carried.
  /// `feed_forward`
  ///    (T, C) is what this block's second half added to x. Not asked of the last block.   Default: handed on
  ///    unchanged.
  virtual void carry(const AttentionInput&, const Heads& /*attention*/, const Matrix& /*feed_forward*/,
                     Tables& /*next*/) const {}
  /// d.carried comes as the gradient of `next` and becomes that of in.carried. What attention owes to `next` is
  /// added to d_attention, which comes zeroed and is not that of stage 5.
  virtual void carry_backward(const AttentionInput&, const Heads& /*attention*/, const Matrix& /*feed_forward*/,
                              Heads& /*d_attention*/, Matrix& /*d_feed_forward*/, AttentionGradient&) const {}

  /// What the encoding worked out on its way to the scores.   Default: nothing that the scores do not show.
  virtual std::vector<Insight> inspect(const AttentionInput&) const { return {}; }

 protected:
  Real scale() const { return 1 / std::sqrt(static_cast<Real>(shape_.head_width())); }

  ModelShape shape_;
};

}  // namespace posbench
