// A minimal transformer: token embedding, blocks of attention and feed-forward, final normalization, output layer.
#pragma once
#include <span>
#include <vector>

#include "model/position_encoding.h"
#include "model/product.h"

namespace posbench {

/// What backward reads again of one block, one named matrix for each step of forward. After its attention a block
/// has R rows: T, but in the last the A that are asked for, as nobody reads the others.
struct BlockActivations {
  Tables carried;
  Matrix attention_input;          // (T, C)
  Matrix normalized1, deviation1;  // (T, C), (T, 1): of the first normalization
  Heads q, k, v;                   // H x (T, D)
  Heads scores, attention;         // H x (T, T); scores where the encoding keeps them
  Heads head_outputs;              // H x (T, D)
  Matrix joined;                   // (R, C): the heads side by side
  Matrix drop1, drop2;             // (R, C): 0 or 1 / (1 - dropout); empty without dropout
  Matrix feed_forward_input;       // (R, C)
  Matrix normalized2, deviation2;
  Matrix slope, activated;  // (R, F): the activation's slope, in the place of what it was given, and its result
  Matrix feed_forward;      // (R, C)
};

/// Everything one sequence needs, forward and backward. Reused from sequence to sequence: nothing is allocated
/// once the longest has been seen.
struct Activations {
  Matrix embedded, drop0;  // (T, C)
  std::vector<BlockActivations> blocks;
  Tables carried;  // after the last block
  Matrix x;        // (T, C): what runs through the blocks; (A, C) from the last one's attention on
  Matrix final_normalized, final_deviation, final_input;  // (A, C), (A, 1), (A, C)
  Matrix logits;                                          // (A, V)

  Matrix qkv, contribution;  // (T, 3 C), (T, C)
  Matrix d_x, d_contribution, d_branch, d_final_input, d_qkv, d_joined, d_activated;
  Heads d_q, d_k, d_v, d_attention, d_head_outputs;
  Heads d_scores;    // forward: the scores that are not kept
  Heads d_carrying;  // what attention owes to what its block carries on
  Tables d_carried;
  Scratch scratch;
};

/// What the sequences of one step share: the weights, copied for products, and stage 0, which is worked out anew
/// only when a sequence's positions do not begin those at hand.
struct StepTables {
  struct Weights {
    PackedMatrix qkv, out, up, down;
  };
  std::vector<Weights> blocks;
  PackedMatrix output;
  bool copied = false;  // blocks and output

  Positions positions;
  Tables values, gradient;
  bool valid = false;  // positions, values and gradient
};

class Transformer {
 public:
  /// Adds its parameters to the layout. The encoding must outlive it. Throws std::invalid_argument where the shape
  /// makes no sense.
  Transformer(const ModelShape&, ParameterLayout&, const PositionEncoding&);

  /// Makes `step` hold the tables of this sequence. `gradients` receives what backward gathered for the former
  /// ones; null where there is no backward.
  void prepare(const Parameters&, const Sequence&, StepTables& step, Gradients* gradients) const;
  /// The end of a step: hands on what backward gathered. The tables are stale once parameters change.
  void finish(const Parameters&, StepTables& step, Gradients* gradients) const;

  /// activations.logits = the logits of the places in sequence.asked. `rng` draws dropout.
  void forward(const Parameters&, const Sequence&, const StepTables&, Rng& rng, Activations&) const;
  /// d_logits (A, V); adds into gradients, and into those of the tables.
  void backward(const Parameters&, const Sequence&, StepTables&, Activations&, const Matrix& d_logits,
                Gradients&) const;

  /// What a layer made of the sequence that forward saw last: "score", "positional part" (what position adds to
  /// q k^T / sqrt(D) in it), "attention", and then what the encoding tells.
  std::vector<Insight> inspect(const Parameters&, const Sequence&, const Tables&, int layer, Activations&) const;

  /// Useful multiply-adds of one forward over T tokens with A places asked: products with weights, after the last
  /// attention of those places alone, and attention with a causal pair counted once.
  double multiply_adds(Index length, Index asked) const;

 private:
  struct Norm {
    Parameter gain, bias;
  };
  struct Dense {
    Parameter weight, bias;
  };
  struct Block {
    Norm norm1, norm2;
    Dense qkv, out, up, down;
  };

  void copy_weights(const Parameters&, StepTables&, bool backward) const;
  void finish_tables(const Parameters&, StepTables&, Gradients*) const;
  void split_heads(const Matrix& qkv, BlockActivations&) const;
  void join_head_gradients(Activations&) const;
  Heads& scores(BlockActivations&, Activations&) const;
  AttentionInput attention_input(const Parameters&, const Sequence&, const Tables&, int layer, BlockActivations&,
                                 Scratch&) const;

  ModelShape shape_;
  const PositionEncoding& encoding_;
  Parameter embedding_;
  std::vector<Block> blocks_;
  Norm final_norm_;
  Dense output_;
};

}  // namespace posbench
