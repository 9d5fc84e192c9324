// Computes attention: projection to queries, keys and values, the stages of the encoding, and the output
// projection. One layer serves all sequences; the values of a sequence are in activations and workspace. Options
// of the model act around the stages: qk_norm on queries and keys, and those of ScoreAdjustment on scores.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/layers.h"
#include "model/position_encoding.h"
#include "model/score_adjustment.h"

namespace posbench::inline POSBENCH_REAL {

/// Calls one stage of an encoding, as in StageCall(encoding, in)->score(in, scores). At the end of the expression
/// it releases the scratch matrices of the stage.
class StageCall {
 public:
  StageCall(const PositionEncoding& encoding, const AttentionInput& in) : encoding_(encoding), in_(in) {}
  StageCall(const StageCall&) = delete;
  StageCall& operator=(const StageCall&) = delete;
  ~StageCall() { in_.scratch.release(); }

  const PositionEncoding* operator->() const { return &encoding_; }

 private:
  const PositionEncoding& encoding_;
  const AttentionInput& in_;
};

/// Calls score, normalize and mix. The results must be sized: H x (T, T), H x (T, T), H x (T, D).
void attend(const PositionEncoding&, const AttentionInput&, Heads& scores, Heads& attention, Heads& output);

/// The input that the blocks need for one sequence.
struct SequenceInput {
  const Sequence& sequence;
  const Parameters& parameters;
  const Tables& tables;
  std::optional<std::span<const int>> rows = {};  // the R positions that are read after the block; none: all T
  bool carries = true;                            // a later block with attention reads the recurrent state
};

/// The weights of an attention layer in the order in which products read them.
struct AttentionWeights {
  PackedMatrix qkv, out;
};

/// The values that forward stores for the backward of one layer.
struct AttentionActivations {
  Matrices recurrent_state;                     // as the layer received it
  Matrix input;                                 // (T, C)
  Matrix unmixed;                               // (T, 3 C): the input of the convolution of q, k and v
  Heads q, k, v;                                // H x (T, D)
  std::vector<NormActivations> q_norm, k_norm;  // of each head, with qk_norm
  Heads scores, attention;                      // H x (T, T)
  Heads head_outputs;                           // H x (T, D)
  Matrix joined;                                // (R, C): the outputs of all heads side by side
};

/// Memory that all layers reuse.
struct AttentionWorkspace {
  Matrix qkv, d_qkv;     // (T, 3 C)
  Matrix d_mixed;        // (T, 3 C): the gradient of the convolution's result
  Matrix d_joined;       // (R, C)
  Matrix d_input;        // (T, C): the gradient of the layer's input
  Heads d_q, d_k, d_v;   // H x (T, D)
  Heads d_head_outputs;  // H x (T, D)
  Heads d_attention;     // H x (T, T)
  Heads d_scores;        // H x (T, T)
  Heads d_carrying;      // H x (T, T): the gradient of attention through the recurrent state
  Scratch scratch;
};

/// Queries and keys as the sums of a part from token embeddings and a part from positions that were added to
/// these.
struct QueryKeyParts {
  Heads content_q, content_k, position_q, position_k;  // H x (T, D)

  /// False if no positions were added: the parts of positions are empty then.
  bool has_positions = false;
};

/// The arguments that forward and backward of an attention layer share, for one sequence.
struct AttentionContext {
  const SequenceInput& input;
  const AttentionWeights& weights;
  AttentionActivations& activations;
  AttentionWorkspace& workspace;
};

/// The gradients outside of a layer that its backward adds to.
struct LayerGradient {
  Gradients& parameters;
  Matrices& tables;           // of Tables::values
  Matrices& recurrent_state;  // after the layer; the backward turns it into that before the layer
};

class AttentionLayer {
 public:
  /// Adds NAME.qkv and NAME.out to the layout. `layer` counts the layers with attention. The encoding must outlive
  /// this object.
  AttentionLayer(const ModelConfig&, const PositionEncoding&, int layer, const std::string& name,
                 ParameterLayout&);

  void pack(const Parameters&, bool backward, AttentionWeights&) const;

  /// Computes result (R, C) from activations.input (T, C) and activations.recurrent_state.
  void forward(const AttentionContext&, Matrix& result) const;
  /// Turns `next`, a copy of activations.recurrent_state, into the recurrent state for the next block. Does
  /// nothing if no block with attention follows. `feed_forward`: as in PositionEncoding::carry.
  void carry(const AttentionContext&, const Matrix& feed_forward, Matrices& next) const;

  /// Sets the gradients that the stages add to to zero. To be called once before the other two.
  void start_backward(const AttentionContext&) const;
  /// Adds to d_feed_forward, among others. Does nothing if no block with attention follows.
  void carry_backward(const AttentionContext&, const Matrix& feed_forward, Matrix& d_feed_forward,
                      LayerGradient&) const;
  /// Writes the gradient of the layer's input to workspace.d_input. d_result is (R, C).
  void backward(const AttentionContext&, const Matrix& d_result, LayerGradient&) const;

  /// Returns the multiply-adds of one forward over T tokens of which R are read: both projections, and attention
  /// with a causal pair counted once.
  double multiply_adds(Index length, Index rows) const;

  /// Returns maps of the last sequence of forward: "score", "content", "positional part", "attention", the maps of
  /// the encoding, and the four terms of content and position if the scores have them. `input_positions` (T, C) is
  /// the summand of the layer's input that comes from positions; it is empty if there is none.
  std::vector<AttentionMap> inspect(const SequenceInput&, const Matrix& input_positions, AttentionActivations&,
                                    AttentionWorkspace&) const;

  /// Returns the encoding, for measurements of single stages.
  const PositionEncoding& encoding() const { return encoding_; }

 private:
  static bool carries(const AttentionContext& c) {
    return c.input.carries && !c.activations.recurrent_state.empty();
  }
  AttentionInput input(const SequenceInput&, AttentionActivations&, Scratch&) const;
  QueryKeyParts split_parts(const Parameters&, const AttentionActivations&, const Matrix& input_positions) const;
  void normalize_heads(const Parameters&, AttentionActivations&) const;
  void normalize_heads_backward(const Parameters&, AttentionActivations&, AttentionWorkspace&, Gradients&) const;
  /// The last components of each key become those of the token before; the first token keeps its own.
  void shift_keys(Heads& k) const;
  void shift_keys_backward(Heads& d_k) const;
  Index shifted_components() const;
  void split_heads(const Matrix& qkv, AttentionActivations&) const;
  void split_heads_backward(AttentionWorkspace&) const;
  void join_heads(const SequenceInput&, AttentionActivations&) const;
  void join_heads_backward(const SequenceInput&, AttentionWorkspace&) const;

  ModelConfig config_;
  const PositionEncoding& encoding_;
  int layer_;
  DenseParameters qkv_, out_;
  NormParameters q_norm_, k_norm_;        // with qk_norm
  std::optional<Parameter> convolution_;  // (taps, 3 C): of q, k and v
  ScoreAdjustment adjustment_;
};

}  // namespace posbench::inline POSBENCH_REAL
