// A block of the transformer: attention and feed-forward around a residual stream. Each kind of block has its own
// file, and a name in ModelShape::block.
#pragma once
#include <memory>

#include "model/attention_layer.h"
#include "model/feed_forward.h"

namespace posbench {

/// What forward stores for the backward of one block; each kind uses what it needs. R rows are read after the block:
/// all T, or, after the last block, those of the target positions.
struct BlockActivations {
  AttentionActivations attention;
  FeedForwardActivations feed_forward;
  NormActivations norm1, norm2;
  Matrix attention_mask, feed_forward_mask;  // dropout masks (R, C): 0 or 1 / (1 - dropout); empty without dropout
};

/// Memory that all blocks reuse.
struct BlockWorkspace {
  AttentionWorkspace attention;
  Matrix contribution, d_contribution;  // (R, C)
  Matrix d_branch;                      // (R, C): the gradient of what one half of the block reads
  Matrix d_rows;                        // (R, C): d_x of the rows that are read, before it is spread over all
  FeedForwardWorkspace feed_forward;
};

/// The weights of a block in the order in which products read them.
struct BlockWeights {
  AttentionLayer::PackedWeights attention;
  FeedForward::PackedWeights feed_forward;
};

class Block {
 public:
  virtual ~Block() = default;

  virtual void pack(const Parameters&, bool backward, BlockWeights&) const = 0;

  /// x (T, C) becomes the block's output, (R, C). `rows` are the target positions for the last block, and null for
  /// the others, which update `recurrent_state` for the next block. `rng` draws dropout; it may be null where there is none.
  virtual void forward(const SequenceInput&, const BlockWeights&, const std::vector<int>* rows, Rng* rng,
                       BlockActivations&, BlockWorkspace&, Matrix& x, Matrices& recurrent_state) const = 0;
  /// d_x (R, C) and d_recurrent_state become the gradients of the block's inputs.
  virtual void backward(const SequenceInput&, const BlockWeights&, const std::vector<int>* rows, BlockActivations&,
                        BlockWorkspace&, Matrix& d_x, Matrices& d_tables, Matrices& d_recurrent_state,
                        Gradients&) const = 0;

  /// Multiply-adds of one forward over T tokens of which R are read afterwards.
  virtual double multiply_adds(Index length, Index rows) const = 0;

  /// The attention maps of the last sequence of forward.
  virtual std::vector<AttentionMap> inspect(const SequenceInput&, BlockActivations&, BlockWorkspace&) const = 0;
};

/// The block of the kind ModelShape::block. The encoding must outlive it.
std::unique_ptr<Block> make_block(const ModelShape&, const PositionEncoding&, int layer, ParameterLayout&);

std::unique_ptr<Block> make_sequential_block(const ModelShape&, const PositionEncoding&, int layer,
                                             ParameterLayout&);
std::unique_ptr<Block> make_parallel_block(const ModelShape&, const PositionEncoding&, int layer,
                                           ParameterLayout&);
std::unique_ptr<Block> make_attention_block(const ModelShape&, const PositionEncoding&, int layer,
                                            ParameterLayout&);

/// Gathers these rows of x (T, C) into (R, C). Null: keeps all.
void keep_rows(const std::vector<int>* rows, Matrix& workspace, Matrix& x);
/// Its backward: d_x (R, C) becomes (T, C), zero in the rows that were left out.
void spread_rows(const std::vector<int>* rows, Index length, Matrix& workspace, Matrix& d_x);

}  // namespace posbench
