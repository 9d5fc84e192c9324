// Defines the transformer: token embedding, blocks, final normalization, output layer.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "model/block.h"

namespace posbench::inline POSBENCH_REAL {

/// The memory of forward and backward of one sequence. Later sequences reuse it, so that nothing is allocated
/// after the longest sequence.
struct SequenceWorkspace {
  Matrix embedded, embedding_mask;       // (T, C): the mask is dropout's
  Matrix unsmeared;                      // (T, C): the token embeddings, with model.smear
  Matrix smear_gate;                     // (T, 1): the gate of each token, without its factor
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

/// The values that the sequences of a step share: packed weights, and the tables of the encoding, which are
/// computed again only if the positions of a sequence are no prefix of theirs.
struct StepCache {
  std::vector<BlockWeights> blocks;
  PackedMatrix output;
  bool packed = false;  // blocks and output

  Positions positions;
  Tables tables;
  Matrices d_tables;   // the gradient of the values of the tables that are in use
  bool valid = false;  // positions, tables and gradient

  /// A prepared cache of the same step, which several caches may read at once. Its weights are used instead of
  /// these, and so are its tables for sequences whose positions are a prefix of its positions. It may be null.
  const StepCache* shared = nullptr;
  bool uses_shared_tables = false;  // if valid

  const StepCache& weights() const { return shared != nullptr ? *shared : *this; }
  /// Returns the cache whose positions and tables are in use.
  const StepCache& tables_owner() const { return uses_shared_tables ? *shared : *this; }
};

/// The values that tokens leave for later ones if a sequence is read token by token. The keys and values of a
/// layer are products of these inputs with its weights, and encodings read the inputs, too.
struct TokenCache {
  std::vector<Matrix> inputs;    // (T, C) of every application of a block
  std::vector<Matrices> states;  // the recurrent state before every application

  /// Removes the first tokens.
  void drop(Index tokens);
};

class Transformer {
 public:
  /// Adds its parameters to the layout. The encoding must outlive it. Throws InputError if the configuration is
  /// invalid.
  Transformer(const ModelConfig&, ParameterLayout&, const PositionEncoding&);

  /// Packs the weights, once per step, and computes the tables of this sequence in `step`. Adds the gradient of
  /// the former tables to `gradients`, which is null if no backward follows.
  void prepare(const Parameters&, const Sequence&, StepCache& step, Gradients* gradients) const;
  /// Ends a step: adds the gradient of the tables to `gradients`, and marks the packed weights as stale. To be
  /// called before parameters change.
  void finish(const Parameters&, StepCache& step, Gradients* gradients) const;

  /// Returns whether dropout acts on this sequence.
  bool drops(const Sequence& s) const { return s.training && config_.dropout > 0; }
  /// Computes the logits of the target positions in the workspace. `rng` draws dropout; it may be null if
  /// !drops(s).
  void forward(const Parameters&, const Sequence&, const StepCache&, Rng* rng, SequenceWorkspace&) const;
  /// Computes the logits (1, V) of the last token of a sequence whose other tokens are in the cache, and adds the
  /// token to the cache. The tables must be for the positions of this sequence. Only for causal models.
  void decode(const Parameters&, const Sequence&, const StepCache&, TokenCache&, SequenceWorkspace&) const;
  /// Adds to the gradients, and to those of the tables. d_logits is (A, V).
  void backward(const Parameters&, const Sequence&, StepCache&, SequenceWorkspace&, const Matrix& d_logits,
                Gradients&) const;

  /// Projects parameters back into their range, before training and after every update.
  void constrain(Parameters& parameters) const { encoding_.constrain(parameters); }

  /// Returns AttentionLayer::inspect of a layer in the last loop, for the last sequence of forward; nothing if the
  /// layer has no attention. The input of the first layer is the sum of the token embeddings and of what the
  /// encoding added to them.
  std::vector<AttentionMap> inspect(const Parameters&, const Sequence&, const Tables&, int layer,
                                    SequenceWorkspace&) const;

  /// Returns the useful multiply-adds of one forward over T tokens with A target positions: products with weights
  /// (after the last attention, of the target positions only), and attention with a causal pair counted once.
  double multiply_adds(Index length, Index targets, int loops = 0) const;

 private:
  void pack_weights(const Parameters&, StepCache&, bool backward) const;
  void finish_tables(const Parameters&, StepCache&, Gradients*) const;
  /// Returns the input of an application of a block. After the last one only the target positions are read, if no
  /// convolution needs the tokens between them.
  SequenceInput input(const Parameters&, const Sequence&, const Tables&, size_t application, size_t count) const;
  bool reads_all_rows() const { return config_.convolution.in_feed_forward(); }
  void smear(const Parameters&, SequenceWorkspace&) const;
  void smear_backward(const Parameters&, SequenceWorkspace&, Gradients&) const;
  /// Computes the input of the first block in the workspace.
  void embed_tokens(const Parameters&, const Sequence&, const Tables&, SequenceWorkspace&) const;
  /// Computes the logits of the rows of x in the workspace.
  void final_logits(const Parameters&, const StepCache&, SequenceWorkspace&) const;
  void output_logits(const Parameters&, const StepCache&, SequenceWorkspace&) const;
  void output_backward(const StepCache&, SequenceWorkspace&, const Matrix& d_logits, Gradients&) const;
  /// Returns the number of applications of blocks, loop by loop and layer by layer. 0 loops: ModelConfig::loops.
  size_t applications(int loops) const {
    return blocks_.size() * static_cast<size_t>(loops > 0 ? loops : config_.loops);
  }
  const Block& block(size_t application) const { return *blocks_[application % blocks_.size()]; }

  ModelConfig config_;
  const PositionEncoding& encoding_;
  Parameter embedding_;
  Parameter smear_gate_, smear_factor_;  // (C, 1) and (1, 1), with model.smear
  std::vector<std::unique_ptr<Block>> blocks_;
  NormParameters final_norm_;
  DenseParameters output_;
};

}  // namespace posbench::inline POSBENCH_REAL
