// A minimal transformer: token embedding, blocks of attention and feed-forward, final normalization, output layer.
#pragma once
#include <memory>
#include <vector>

#include "model/block.h"

namespace posbench {

/// Everything one sequence needs, forward and backward. Reused from sequence to sequence: nothing is allocated
/// once the longest has been seen.
struct Activations {
  Matrix embedded, embedding_mask;  // (T, C): the mask is dropout's
  std::vector<BlockActivations> blocks;
  Matrices recurrent_state;  // after the last block
  Matrix x;        // (T, C): what runs through the blocks; (A, C) from the last one's attention on
  NormActivations final_norm;
  Matrix final_input;  // (A, C)
  Matrix logits;       // (A, V)

  BlockWorkspace workspace;
  Matrix d_x, d_final_input;
  Matrices d_recurrent_state;
};

/// What the sequences of one step share: the weights, packed for products, and stage 0, which is computed anew
/// only when a sequence's positions do not begin those at hand.
struct StepTables {
  std::vector<BlockWeights> blocks;
  PackedMatrix output;
  bool packed = false;  // blocks and output

  Positions positions;
  Tables tables;
  Matrices d_tables;   // the gradient of their values
  bool valid = false;  // positions, tables and gradient
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

  /// activations.logits = the logits of the target positions. `rng` draws dropout.
  void forward(const Parameters&, const Sequence&, const StepTables&, Rng& rng, Activations&) const;
  /// d_logits (A, V); adds into gradients, and into those of the tables.
  void backward(const Parameters&, const Sequence&, StepTables&, Activations&, const Matrix& d_logits,
                Gradients&) const;

  /// Projects parameters back into their range: once before training and after every update.
  void constrain(Parameters& parameters) const { encoding_.constrain(parameters); }

  /// What a layer made of the sequence that forward saw last: AttentionLayer::inspect.
  std::vector<AttentionMap> inspect(const Parameters&, const Sequence&, const Tables&, int layer,
                                    Activations&) const;

  /// Useful multiply-adds of one forward over T tokens with A target positions: products with weights, after the
  /// last attention of those alone, and attention with a causal pair counted once.
  double multiply_adds(Index length, Index targets) const;

 private:
  void pack_weights(const Parameters&, StepTables&, bool backward) const;
  void finish_tables(const Parameters&, StepTables&, Gradients*) const;
  void output_logits(const Parameters&, const StepTables&, Activations&) const;
  void output_backward(const Parameters&, const StepTables&, Activations&, const Matrix& d_logits,
                       Gradients&) const;
  /// The rows that are read after a block; null: all.
  const std::vector<int>* rows_after(size_t layer, const Sequence&) const;

  ModelShape shape_;
  const PositionEncoding& encoding_;
  Parameter embedding_;
  std::vector<std::unique_ptr<Block>> blocks_;
  NormParameters final_norm_;
  DenseParameters output_;
};

}  // namespace posbench
