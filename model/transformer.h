// A minimal transformer: token embedding, blocks of attention and feed-forward, final normalization, output layer.
#pragma once
#include <memory>
#include <vector>

#include "model/block.h"

namespace posbench {

/// Everything one sequence needs, forward and backward. Reused from sequence to sequence: nothing is allocated
/// once the longest has been seen.
struct Activations {
  Matrix embedded, embedding_mask;       // (T, C): the mask is dropout's
  std::vector<BlockActivations> blocks;  // of every block, once for each loop
  Matrices recurrent_state;              // after the last block
  Matrix x;                              // (T, C): the residual stream; (A, C) from the last block's attention on
  NormActivations final_norm;
  Matrix final_input;  // (A, C)
  Matrix logits;       // (A, V)

  BlockWorkspace workspace;
  Matrix d_x, d_final_input;
  Matrices d_recurrent_state;
};

/// What is computed once for the sequences of a step: packed weights, and the tables of stage 0, which are computed
/// again only if a sequence's positions are no prefix of theirs.
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
  /// Adds its parameters to the layout. The encoding must outlive it. Throws std::invalid_argument if the shape is
  /// invalid.
  Transformer(const ModelShape&, ParameterLayout&, const PositionEncoding&);

  /// Computes the tables of this sequence in `step`. Adds the gradient of the former tables to `gradients`; null if
  /// there is no backward.
  void prepare(const Parameters&, const Sequence&, StepTables& step, Gradients* gradients) const;
  /// The end of a step: adds the gradient of the tables to `gradients`. Tables are invalid once parameters change.
  void finish(const Parameters&, StepTables& step, Gradients* gradients) const;

  /// Whether entries are dropped in a forward of this sequence.
  bool drops(const Sequence& s) const { return s.training && shape_.dropout > 0; }
  /// activations.logits = the logits of the target positions. `rng` draws dropout; it may be null where !drops(s).
  void forward(const Parameters&, const Sequence&, const StepTables&, Rng* rng, Activations&) const;
  /// d_logits (A, V); adds to the gradients, and to those of the tables.
  void backward(const Parameters&, const Sequence&, StepTables&, Activations&, const Matrix& d_logits,
                Gradients&) const;

  /// Projects parameters back into their range: once before training and after every update.
  void constrain(Parameters& parameters) const { encoding_.constrain(parameters); }

  /// The attention maps of a layer for the last sequence of forward, in the last loop: AttentionLayer::inspect.
  std::vector<AttentionMap> inspect(const Parameters&, const Sequence&, const Tables&, int layer,
                                    Activations&) const;

  /// Useful multiply-adds of one forward over T tokens with A target positions: products with weights (after the
  /// last attention, of the target positions only), and attention with a causal pair counted once.
  double multiply_adds(Index length, Index targets, int loops = 0) const;

 private:
  void pack_weights(const Parameters&, StepTables&, bool backward) const;
  void finish_tables(const Parameters&, StepTables&, Gradients*) const;
  void output_logits(const Parameters&, const StepTables&, Activations&) const;
  void output_backward(const Parameters&, const StepTables&, Activations&, const Matrix& d_logits,
                       Gradients&) const;
  /// How often blocks are applied: loop by loop, layer by layer. 0 loops: as many as the shape says.
  size_t applications(int loops) const {
    return blocks_.size() * static_cast<size_t>(loops > 0 ? loops : shape_.loops);
  }
  const Block& block(size_t application) const { return *blocks_[application % blocks_.size()]; }

  ModelShape shape_;
  const PositionEncoding& encoding_;
  Parameter embedding_;
  std::vector<std::unique_ptr<Block>> blocks_;
  NormParameters final_norm_;
  DenseParameters output_;
};

}  // namespace posbench
