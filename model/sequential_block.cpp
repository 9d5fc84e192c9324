// Attention, then feed-forward (Vaswani et al. 2017, arXiv:1706.03762; pre-norm: Xiong et al. 2020,
// arXiv:2002.04745).
//
//   pre-norm    x += attention(norm1(x)),        x += feed_forward(norm2(x))
//   post-norm   x = norm1(x + attention(x)),     x = norm2(x + feed_forward(x))
#include <fmt/format.h>

#include "model/block.h"

namespace posbench {
namespace {

class SequentialBlock final : public Block {
 public:
  SequentialBlock(const ModelShape& shape, const PositionEncoding& encoding, const std::string& name, int layer,
                  ParameterLayout& layout)
      : shape_(shape),
        norm1_(add_norm(layout, name + ".norm1", shape.width, shape.norm_kind, shape.biases)),
        norm2_(add_norm(layout, name + ".norm2", shape.width, shape.norm_kind, shape.biases)),
        attention_(shape, encoding, layer, name + ".attention", layout),
        feed_forward_(shape, name + ".feed_forward", layout) {}

  void pack(const Parameters& p, bool backward, BlockWeights& weights) const override {
    attention_.pack(p, backward, weights.attention);
    feed_forward_.pack(p, backward, weights.feed_forward);
  }

  void forward(const SequenceInput& s, const BlockWeights& weights, const std::vector<int>* rows, Rng* rng,
               BlockActivations& a, BlockWorkspace& workspace, Matrix& x,
               Matrices& recurrent_state) const override {
    const Parameters& p = s.parameters;
    const bool dropping = s.sequence.training && shape_.dropout > 0;
    a.attention.recurrent_state = recurrent_state;
    if (shape_.pre_norm) {
      norm(p, norm1_, x, a.norm1, a.attention.input);
    } else {
      a.attention.input = x;
    }
    attention_.forward(s, weights.attention, rows, a.attention, workspace.attention, workspace.contribution);
    if (dropping) dropout(shape_.dropout, *rng, a.attention_mask, workspace.contribution);
    keep_rows(rows, workspace.d_rows, x);
    x += workspace.contribution;

    if (shape_.pre_norm) {
      norm(p, norm2_, x, a.norm2, a.feed_forward.input);
    } else {
      norm(p, norm1_, x, a.norm1, a.feed_forward.input);
      x = a.feed_forward.input;
    }
    feed_forward_.forward(p, weights.feed_forward, a.feed_forward);
    if (dropping) dropout(shape_.dropout, *rng, a.feed_forward_mask, a.feed_forward.output);
    x += a.feed_forward.output;
    if (!shape_.pre_norm) {
      norm(p, norm2_, x, a.norm2, workspace.contribution);
      x = workspace.contribution;
    }
    if (!rows && !recurrent_state.empty())
      attention_.carry(s, a.attention, a.feed_forward.output, workspace.attention, recurrent_state);
  }

  void backward(const SequenceInput& s, const BlockWeights& weights, const std::vector<int>* rows,
                BlockActivations& a, BlockWorkspace& workspace, Matrix& d_x, Matrices& d_tables,
                Matrices& d_recurrent_state, Gradients& d) const override {
    const Parameters& p = s.parameters;
    const Index T = a.attention.input.rows();
    const bool dropping = s.sequence.training && shape_.dropout > 0, carries = !rows && !d_recurrent_state.empty();
    Matrix &d_branch = workspace.d_branch, &d_contribution = workspace.d_contribution;
    attention_.start_backward(T, workspace.attention);

    if (!shape_.pre_norm) {
      d_branch.resize(d_x.rows(), d_x.cols());
      d_branch.setZero();
      norm_backward(p, norm2_, a.norm2, d_x, d_branch, d);
      d_x = d_branch;
    }
    d_contribution = d_x;
    if (carries) {
      attention_.carry_backward(s, a.attention, a.feed_forward.output, workspace.attention, d_contribution,
                                d_tables, d_recurrent_state, d);
    }
    if (dropping) d_contribution.array() *= a.feed_forward_mask.array();
    feed_forward_.backward(weights.feed_forward, a.feed_forward, d_contribution, workspace.feed_forward, d_branch,
                           d);
    if (shape_.pre_norm) {
      norm_backward(p, norm2_, a.norm2, d_branch, d_x, d);
    } else {
      d_branch += d_x;
      d_x.setZero();
      norm_backward(p, norm1_, a.norm1, d_branch, d_x, d);
    }

    d_contribution = d_x;
    if (dropping) d_contribution.array() *= a.attention_mask.array();
    attention_.backward(s, weights.attention, rows, a.attention, d_contribution, carries, workspace.attention,
                        d_tables, d_recurrent_state, d);
    spread_rows(rows, T, workspace.d_rows, d_x);
    if (shape_.pre_norm) {
      norm_backward(p, norm1_, a.norm1, workspace.attention.d_input, d_x, d);
    } else {
      d_x += workspace.attention.d_input;
    }
  }

  double multiply_adds(Index length, Index rows) const override {
    return attention_.multiply_adds(length, rows) + feed_forward_.multiply_adds(rows);
  }

  std::vector<AttentionMap> inspect(const SequenceInput& s, BlockActivations& a,
                                    BlockWorkspace& workspace) const override {
    return attention_.inspect(s, a.attention, workspace.attention);
  }

 private:
  ModelShape shape_;
  NormParameters norm1_, norm2_;
  AttentionLayer attention_;
  FeedForward feed_forward_;
};

}  // namespace

std::unique_ptr<Block> make_sequential_block(const ModelShape& shape, const PositionEncoding& encoding, int layer,
                                             ParameterLayout& layout) {
  return std::make_unique<SequentialBlock>(shape, encoding, fmt::format("blocks.{}", layer), layer, layout);
}

}  // namespace posbench
