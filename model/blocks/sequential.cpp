// Attention, then feed-forward (Vaswani et al. 2017, arXiv:1706.03762; pre-norm: Xiong et al. 2020,
// arXiv:2002.04745).
//
//   pre-norm    x += attention(norm1(x)),        x += feed_forward(norm2(x))
//   post-norm   x = norm1(x + attention(x)),     x = norm2(x + feed_forward(x))
#include "model/block.h"

namespace posbench::sequential {
namespace {

class SequentialBlock final : public Block {
 public:
  using Block::Block;

 private:
  void after_attention(const BlockContext& c, Rng* rng, Matrix& x) const override {
    BlockActivations& a = c.activations;
    if (config_.pre_norm) {
      norm(c.input.parameters, norm2_, x, a.norm2, a.feed_forward.input);
    } else {
      norm(c.input.parameters, norm1_, x, a.norm1, a.feed_forward.input);
      x = a.feed_forward.input;
    }
    add_feed_forward(c, rng, x);
    post_norm(c, norm2_, a.norm2, x);
  }

  void after_attention_backward(const BlockContext& c, Matrix& d_x, LayerGradient& d) const override {
    BlockActivations& a = c.activations;
    Matrix& d_branch = c.workspace.d_branch;
    post_norm_backward(c, norm2_, a.norm2, d_x, d);
    add_feed_forward_backward(c, d_x, d);
    if (config_.pre_norm) {
      norm_backward(c.input.parameters, norm2_, a.norm2, d_branch, d_x, d.parameters);
    } else {
      d_branch += d_x;
      d_x.setZero();
      norm_backward(c.input.parameters, norm1_, a.norm1, d_branch, d_x, d.parameters);
    }
  }
};

const RegisterBlock<SequentialBlock> registered{
    {.name = "sequential", .summary = "attention, then feed-forward", .has_second_norm = true}};

}  // namespace
}  // namespace posbench::sequential
