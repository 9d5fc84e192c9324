// Defines a block of the transformer: attention and feed-forward around a residual stream. The class has the
// skeleton that all kinds of blocks share. Each kind has a file in model/blocks, for its part after the attention
// or for the recurrent layer that replaces the attention, which registers the name that model.block has for it.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/registry.h"
#include "model/attention_layer.h"
#include "model/feed_forward.h"
#include "model/recurrent_layer.h"

namespace posbench::inline POSBENCH_REAL {

/// The values that forward stores for the backward of one block; each kind uses those that it needs. R is the
/// number of rows that are read after the block: T, or after the last block the number of target positions.
struct BlockActivations {
  AttentionActivations attention;  // its input is also that of a recurrent layer
  Matrices recurrent;              // RecurrentContext::values
  Matrix unmixed;                  // (T, C): the input of the convolution before the attention
  FeedForwardActivations feed_forward;
  NormActivations norm1, norm2;
  Matrix attention_mask, feed_forward_mask;  // dropout masks (R, C): 0 or 1 / (1 - dropout); empty without dropout
};

/// Memory that all blocks reuse.
struct BlockWorkspace {
  AttentionWorkspace attention;
  FeedForwardWorkspace feed_forward;
  Matrix contribution, d_contribution;  // (R, C): of a sublayer to the residual stream
  Matrix d_branch;                      // (R, C): the gradient of a sublayer's input
  Matrix rows;                          // (R, C): the selected rows of x or of d_x
  Matrix d_mixed;                       // (T, C): the gradient of a convolution's result
};

/// The weights of a block in the order in which products read them.
struct BlockWeights {
  AttentionWeights attention;
  RecurrentWeights recurrent;
  FeedForwardWeights feed_forward;
};

/// The arguments that forward and backward of a block share, for one sequence.
struct BlockContext {
  const SequenceInput& input;
  const BlockWeights& weights;
  BlockActivations& activations;
  BlockWorkspace& workspace;

  AttentionContext attention() const {
    return {input, weights.attention, activations.attention, workspace.attention};
  }
  RecurrentContext recurrent() const {
    return {input.parameters, weights.recurrent, activations.attention.input, activations.recurrent,
            workspace.attention.scratch};
  }
};

class Block {
 public:
  /// Adds the parameters of norms, attention or recurrent layer, and feed-forward layer to the layout, as far as
  /// the kind has them. Throws InputError if a recurrent layer does not have an option of the configuration.
  Block(const ModelConfig&, const PositionEncoding&, int layer, ParameterLayout&);
  virtual ~Block() = default;

  void pack(const Parameters&, bool backward, BlockWeights&) const;

  /// x (T, C) becomes the block's output (R, C), and recurrent_state that for the next block. `rng` draws dropout;
  /// it may be null if nothing is dropped.
  void forward(const BlockContext&, Rng* rng, Matrix& x, Matrices& recurrent_state) const;
  /// d_x (R, C) becomes the gradient of the block's input (T, C).
  void backward(const BlockContext&, Matrix& d_x, LayerGradient&) const;

  bool has_attention() const { return attention_.has_value(); }

  /// Returns the multiply-adds of one forward over T tokens of which R are read afterwards.
  double multiply_adds(Index length, Index rows) const;

  /// Returns the attention maps of the last sequence of forward; none without attention.
  std::vector<AttentionMap> inspect(const SequenceInput&, Matrix x_positions, BlockActivations&,
                                    BlockWorkspace&) const;

 protected:
  /// x (R, C), the sum of the block's input and its attention or recurrent layer, becomes the block's output.
  virtual void after_attention(const BlockContext&, Rng* rng, Matrix& x) const = 0;
  /// d_x (R, C), the gradient of the block's output, becomes that of the sum.
  virtual void after_attention_backward(const BlockContext&, Matrix& d_x, LayerGradient&) const = 0;
  /// Adds the gradient that reaches the input of the attention in other ways to its d_input.   Default: nothing.
  virtual void attention_input_backward(const BlockContext&) const {}

  /// x += the feed-forward layer's result for activations.feed_forward.input, with dropout.
  void add_feed_forward(const BlockContext&, Rng* rng, Matrix& x) const;
  /// workspace.d_branch = the gradient of the feed-forward layer's input. d_x is only read.
  void add_feed_forward_backward(const BlockContext&, const Matrix& d_x, LayerGradient&) const;

  /// Calls carry_backward of the attention, if the block has one.
  void carry_backward(const BlockContext&, const Matrix& feed_forward, Matrix& d_feed_forward,
                      LayerGradient&) const;

  /// x = norm(x), for the norm at the end of a post-norm block. Does nothing in a pre-norm block.
  void post_norm(const BlockContext&, const NormParameters&, NormActivations&, Matrix& x) const;
  void post_norm_backward(const BlockContext&, const NormParameters&, NormActivations&, Matrix& d_x,
                          LayerGradient&) const;

  ModelConfig config_;
  std::optional<Parameter> convolution_;       // (taps, C): before the attention
  NormParameters norm1_, norm2_;               // norm2_: if the kind has one
  std::optional<AttentionLayer> attention_;    // none in a recurrent block
  std::unique_ptr<RecurrentLayer> recurrent_;  // none in a block with attention
  std::optional<FeedForward> feed_forward_;    // none in a block of attention or of an LSTM layer alone

 private:
  /// result (R, C) = that of the attention or of the recurrent layer for activations.attention.input.
  void mix_tokens(const BlockContext&, Matrix& result) const;
  /// Writes the gradient of the input to workspace.attention.d_input. d_result (R, C) may become (T, C).
  void mix_tokens_backward(const BlockContext&, Matrix& d_result, LayerGradient&) const;
  bool drops(const BlockContext& c) const { return c.input.sequence.training && config_.dropout > 0; }
};

/// A kind of block, which model.block names.
struct BlockKind {
  std::string name;
  std::string summary;  // for the help text of model.block: "attention, then feed-forward"
  bool has_feed_forward = true;
  bool has_second_norm = false;  // norm2, of the feed-forward layer
  std::unique_ptr<Block> (*make)(const ModelConfig&, const PositionEncoding&, int layer,
                                 ParameterLayout&) = nullptr;
  /// Makes the layer in place of attention from a spec, which has its options. Null: the block has attention.
  std::unique_ptr<RecurrentLayer> (*make_recurrent)(const Spec&, const ModelConfig&, const std::string& name,
                                                    ParameterLayout&) = nullptr;
  Spec (*canonical_form)(const Spec&) = [](const Spec& spec) { return make_canonical<NoOptions>(spec, "block"); };
  std::vector<OptionInfo> options = {};
  std::string in_block = "";  // the kind of block that has the recurrent layer in place of its attention

  bool is_recurrent() const { return make_recurrent != nullptr; }
  Spec canonical(const Spec& spec) const { return canonical_form(spec); }
};

/// Returns the registry of all kinds of blocks that are linked in.
Registry<BlockKind>& blocks();

/// Returns whether this is a value of model.block with recurrent layers alone, without attention.
bool is_recurrent_block(const std::string& text);

/// Adds the kind to the registry. Ends the program, as other registrations do, if it lacks a field.
void register_block(BlockKind);

/// Registers the block B, which is constructed from (const ModelConfig&, const PositionEncoding&, int layer,
/// ParameterLayout&).
template <class B>
struct RegisterBlock {
  explicit RegisterBlock(BlockKind kind) {
    kind.make = [](const ModelConfig& config, const PositionEncoding& encoding, int layer,
                   ParameterLayout& layout) -> std::unique_ptr<Block> {
      return std::make_unique<B>(config, encoding, layer, layout);
    };
    register_block(std::move(kind));
  }
};

/// Registers the recurrent layer L, which is constructed from (const L::Options&, const ModelConfig&, const
/// std::string& name, ParameterLayout&), as a kind of block: that which .in_block names, with the layer in place
/// of its attention.
template <class L>
struct RegisterRecurrentLayer {
  explicit RegisterRecurrentLayer(BlockKind kind) {
    using Options = typename L::Options;
    kind.make_recurrent = [](const Spec& spec, const ModelConfig& config, const std::string& name,
                             ParameterLayout& layout) -> std::unique_ptr<RecurrentLayer> {
      return std::make_unique<L>(read_options<Options>(spec, "block"), config, name, layout);
    };
    kind.canonical_form = [](const Spec& spec) { return make_canonical<Options>(spec, "block"); };
    kind.options = list_options<Options>();
    register_block(std::move(kind));
  }
};

/// Throws InputError if no block of a model has attention, and thus neither scores nor attention weights.
void require_attention(const ModelConfig&);

/// Returns a block of the kind that the configuration names for the layer. The encoding must outlive it.
std::unique_ptr<Block> make_block(const ModelConfig&, const PositionEncoding&, int layer, ParameterLayout&);

/// Gathers these rows of x (T, C) into (R, C). Keeps all if there are no `rows`.
void select_rows(std::optional<std::span<const int>> rows, Matrix& workspace, Matrix& x);
/// d_x (R, C) becomes (T, C), with zeros in the rows that were not selected.
void select_rows_backward(std::optional<std::span<const int>> rows, Index length, Matrix& workspace, Matrix& d_x);

}  // namespace posbench::inline POSBENCH_REAL
