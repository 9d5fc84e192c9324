// Attention alone, without feed-forward, as in the models of two layers of Olsson et al. 2022 (arXiv:2209.11895)
// and of Gu and Dao 2023 (arXiv:2312.00752, induction heads). With model.block=lstm, an LSTM layer is in place of
// the attention.
//
//   pre-norm    x += attention(norm(x))
//   post-norm   x = norm(x + attention(x))
#include <memory>

#include "model/block.h"

namespace posbench::inline POSBENCH_REAL {
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

}  // namespace

std::unique_ptr<Block> make_attention_block(const ModelConfig& config, const PositionEncoding& encoding, int layer,
                                            ParameterLayout& layout) {
  return std::make_unique<AttentionBlock>(config, encoding, layer, layout);
}

}  // namespace posbench::inline POSBENCH_REAL
