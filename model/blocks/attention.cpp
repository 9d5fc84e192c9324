// Attention alone, without feed-forward, as in the models of two layers of Olsson et al. 2022 (arXiv:2209.11895)
// and of Gu and Dao 2023 (arXiv:2312.00752, induction heads).
//
//   pre-norm    x += attention(norm(x))
//   post-norm   x = norm(x + attention(x))
#include "model/block.h"

namespace posbench::attention {
namespace {

class AttentionBlock final : public Block {
 public:
  using Block::Block;

 private:
  void after_attention(const BlockContext& c, Rng*, Matrix& x) const override {
    post_norm(c, norm1_, c.activations.norm1, x);
  }

  void after_attention_backward(const BlockContext& c, Matrix& d_x, LayerGradient& d) const override {
    post_norm_backward(c, norm1_, c.activations.norm1, d_x, d);
    Matrix none;
    carry_backward(c, none, none, d);
  }
};

const RegisterBlock<AttentionBlock> registered{
    {.name = "attention", .summary = "attention alone, without feed-forward", .has_feed_forward = false}};

}  // namespace
}  // namespace posbench::attention
