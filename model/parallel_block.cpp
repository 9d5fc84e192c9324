// Attention and feed-forward in parallel, as in GPT-J (Wang and Komatsuzaki 2021): both read the same normalized
// input, and both results are added to the residual stream.
//
//   pre-norm    x += attention(norm(x)) + feed_forward(norm(x))
//   post-norm   x = norm(x + attention(x) + feed_forward(x)), ours: GPT-J has no such form
#include <fmt/format.h>

#include "model/block.h"

namespace posbench {
namespace {

class ParallelBlock final : public Block {
 public:
  ParallelBlock(const ModelShape& shape, const PositionEncoding& encoding, const std::string& name, int layer,
                ParameterLayout& layout)
      : shape_(shape),
        norm_(add_norm(layout, name + ".norm1", shape.width, shape.norm_kind, shape.biases)),
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
      norm(p, norm_, x, a.norm1, a.attention.input);
    } else {
      a.attention.input = x;
    }
    a.feed_forward.input = a.attention.input;
    keep_rows(rows, workspace.d_rows, a.feed_forward.input);
    attention_.forward(s, weights.attention, rows, a.attention, workspace.attention, workspace.contribution);
    feed_forward_.forward(p, weights.feed_forward, a.feed_forward);
    if (dropping) {
      dropout(shape_.dropout, *rng, a.attention_mask, workspace.contribution);
      dropout(shape_.dropout, *rng, a.feed_forward_mask, a.feed_forward.output);
    }
    keep_rows(rows, workspace.d_rows, x);
    x += workspace.contribution;
    x += a.feed_forward.output;
    if (!shape_.pre_norm) {
      norm(p, norm_, x, a.norm1, workspace.contribution);
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
    Matrix& d_input = workspace.attention.d_input;
    attention_.start_backward(T, workspace.attention);

    if (!shape_.pre_norm) {
      d_branch.resize(d_x.rows(), d_x.cols());
      d_branch.setZero();
      norm_backward(p, norm_, a.norm1, d_x, d_branch, d);
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

    d_contribution = d_x;
    if (dropping) d_contribution.array() *= a.attention_mask.array();
    attention_.backward(s, weights.attention, rows, a.attention, d_contribution, carries, workspace.attention,
                        d_tables, d_recurrent_state, d);
    if (rows) {
      scatter_add(d_branch, *rows, d_input);
    } else {
      d_input += d_branch;
    }
    spread_rows(rows, T, workspace.d_rows, d_x);
    if (shape_.pre_norm) {
      norm_backward(p, norm_, a.norm1, d_input, d_x, d);
    } else {
      d_x += d_input;
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
  NormParameters norm_;
  AttentionLayer attention_;
  FeedForward feed_forward_;
};

}  // namespace

std::unique_ptr<Block> make_parallel_block(const ModelShape& shape, const PositionEncoding& encoding, int layer,
                                           ParameterLayout& layout) {
  return std::make_unique<ParallelBlock>(shape, encoding, fmt::format("blocks.{}", layer), layer, layout);
}

}  // namespace posbench
