// An attention layer: projection to queries, keys and values, heads, the encoding's stages in their order, output
// projection. One layer serves all sequences; the values of one sequence are in activations and workspace.
//
// Options of the shape act around the stages: qk_norm normalizes the queries and keys that they receive; a logit scale
// multiplies the scores before the normalization, and a window or segments hide keys from it.
#pragma once
#include <string>

#include "model/layers.h"
#include "model/position_encoding.h"

namespace posbench {

/// Calls an encoding's stages and releases the scratch of each of them.
class AttentionStages {
 public:
  explicit AttentionStages(const PositionEncoding& encoding) : encoding_(encoding) {}

  void score(const AttentionInput&, Heads& scores) const;
  void normalize(const AttentionInput&, const Heads& scores, Heads& attention) const;
  void mix(const AttentionInput&, const Heads& attention, Heads& output) const;
  void carry(const AttentionInput&, const Heads& attention, const Matrix& feed_forward, Matrices& next) const;
  /// score, normalize, mix. All three must be sized: H x (T, T), H x (T, T), H x (T, D).
  void attend(const AttentionInput&, Heads& scores, Heads& attention, Heads& output) const;

  void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const;
  void normalize_backward(const AttentionInput&, const Heads& scores, const Heads& attention,
                          const Heads& d_attention, Heads& d_scores) const;
  void mix_backward(const AttentionInput&, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient&) const;
  void carry_backward(const AttentionInput&, const Heads& attention, const Matrix& feed_forward,
                      Heads& d_attention, Matrix& d_feed_forward, AttentionGradient&) const;

  const PositionEncoding& encoding() const { return encoding_; }

 private:
  const PositionEncoding& encoding_;
};

/// What the shape of a model does to scores, whatever the encoding: a factor for each query, a window, segments.
class ScoreAdjustment {
 public:
  explicit ScoreAdjustment(const ModelShape&);

  /// Scores become those that are normalized. What the encoding hides stays hidden.
  void apply(Heads& scores) const;
  /// Their gradient becomes that of the encoding's scores.
  void apply_backward(Heads& d_scores) const;

 private:
  template <class Hide>
  void for_each_row(Heads& scores, Hide) const;
  struct Range {
    Index first, end;
  };
  bool hides() const { return shape_.window > 0 || shape_.segment > 0; }
  Range seen(Index i, Index length) const;
  Index keys(Index i, Index length) const;
  Real factor(Index i, Index length) const;

  ModelShape shape_;
};

/// The input that all layers need for one sequence.
struct SequenceInput {
  const Sequence& sequence;
  const Parameters& parameters;
  const Tables& tables;
};

/// What forward stores for the backward of one layer. R rows are read after the layer: all T, or those of the target
/// positions.
struct AttentionActivations {
  Matrices recurrent_state;                     // as the layer received it
  Matrix input;                                 // (T, C)
  Heads q, k, v;                                // H x (T, D)
  std::vector<NormActivations> q_norm, k_norm;  // of each head, with qk_norm
  Heads scores, attention;                      // H x (T, T); scores where the encoding keeps them
  Heads head_outputs;                           // H x (T, D)
  Matrix joined;                                // (R, C): the heads side by side
};

/// Memory that all layers reuse, forward and backward.
struct AttentionWorkspace {
  Matrix qkv, d_qkv;     // (T, 3 C)
  Matrix d_joined;       // (R, C)
  Matrix d_input;        // (T, C): the gradient of what the layer read
  Heads d_q, d_k, d_v;   // H x (T, D)
  Heads d_head_outputs;  // H x (T, D)
  Heads d_attention;     // H x (T, T)
  Heads d_scores;        // H x (T, T); forward: the scores that are not kept
  Heads d_carrying;      // H x (T, T): the gradient of attention through the recurrent state
  Scratch scratch;
};

class AttentionLayer {
 public:
  /// Adds NAME.qkv and NAME.out to the layout. The encoding must outlive it.
  AttentionLayer(const ModelShape&, const PositionEncoding&, int layer, const std::string& name, ParameterLayout&);

  struct PackedWeights {
    PackedMatrix qkv, out;
  };
  void pack(const Parameters&, bool backward, PackedWeights&) const;

  /// result (R, C) from a.input (T, C) and a.recurrent_state. `rows`: the positions that are read afterwards;
  /// null: all.
  void forward(const SequenceInput&, const PackedWeights&, const std::vector<int>* rows, AttentionActivations& a,
               AttentionWorkspace&, Matrix& result) const;
  /// The recurrent state for the next block, from what the layer received.
  void carry(const SequenceInput&, AttentionActivations&, const Matrix& feed_forward, AttentionWorkspace&,
             Matrices& next) const;

  /// To be called once before the two others: sets the gradients that the stages add to to zero.
  void start_backward(Index length, AttentionWorkspace&) const;
  /// On entry d_recurrent_state is the gradient of the state after the block; on return that of the state before
  /// it.
  void carry_backward(const SequenceInput&, AttentionActivations&, const Matrix& feed_forward, AttentionWorkspace&,
                      Matrix& d_feed_forward, Matrices& d_tables, Matrices& d_recurrent_state, Gradients&) const;
  /// d_result (R, C); writes the gradient of the layer's input to workspace.d_input. `carries`: whether
  /// carry_backward was called before.
  void backward(const SequenceInput&, const PackedWeights&, const std::vector<int>* rows, AttentionActivations&,
                const Matrix& d_result, bool carries, AttentionWorkspace&, Matrices& d_tables,
                Matrices& d_recurrent_state, Gradients&) const;

  /// Multiply-adds of one forward over T tokens of which R are read: both projections, and attention with a causal
  /// pair counted once.
  double multiply_adds(Index length, Index rows) const;

  /// "score", "positional part" (the score minus q k^T / sqrt(D)), "attention", then the maps of the encoding, and
  /// then the four terms of content and position where the scores have them; for the last sequence of forward.
  std::vector<AttentionMap> inspect(const SequenceInput&, AttentionActivations&, AttentionWorkspace&) const;

  /// For measurements of single stages.
  const AttentionStages& stages() const { return stages_; }

 private:
  AttentionInput input(const SequenceInput&, AttentionActivations&, Scratch&) const;
  void normalize_heads(const Parameters&, AttentionActivations&) const;
  void normalize_heads_backward(const Parameters&, AttentionActivations&, AttentionWorkspace&, Gradients&) const;
  Heads& scores(AttentionActivations&, AttentionWorkspace&) const;
  void split_heads(const Matrix& qkv, AttentionActivations&) const;
  void join_head_gradients(AttentionWorkspace&) const;

  ModelShape shape_;
  AttentionStages stages_;
  int layer_;
  DenseParameters qkv_, out_;
  NormParameters q_norm_, k_norm_;  // with qk_norm
  ScoreAdjustment adjustment_;
};

}  // namespace posbench
