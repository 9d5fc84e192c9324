// Attention and feed-forward in parallel, as in GPT-J (Wang and Komatsuzaki 2021): both read the same input, and
// both results are added to the residual stream. The post-norm form is ours: GPT-J has none.
//
//   pre-norm    x += attention(norm(x)) + feed_forward(norm(x))
//   post-norm   x = norm(x + attention(x) + feed_forward(x))
#include "model/block.h"

namespace posbench::parallel {
namespace {

class ParallelBlock final : public Block {
 public:
  using Block::Block;

 private:
  void after_attention(const BlockContext& c, Rng* rng, Matrix& x) const override {
    BlockActivations& a = c.activations;
    a.feed_forward.input = a.attention.input;
    select_rows(c.input.rows, c.workspace.rows, a.feed_forward.input);
    add_feed_forward(c, rng, x);
    post_norm(c, norm1_, a.norm1, x);
  }

  void after_attention_backward(const BlockContext& c, Matrix& d_x, LayerGradient& d) const override {
    post_norm_backward(c, norm1_, c.activations.norm1, d_x, d);
    add_feed_forward_backward(c, d_x, d);
  }

  void attention_input_backward(const BlockContext& c) const override {
    if (c.input.rows) {
      scatter_add(c.workspace.d_branch, *c.input.rows, c.workspace.attention.d_input);
    } else {
      c.workspace.attention.d_input += c.workspace.d_branch;
    }
  }
};

const RegisterBlock<ParallelBlock> registered{
    {.name = "parallel", .summary = "attention and feed-forward from the same input, as in GPT-J"}};

}  // namespace
}  // namespace posbench::parallel
