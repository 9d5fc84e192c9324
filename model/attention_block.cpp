// Attention alone, without feed-forward, as in the models of two layers of Olsson et al. 2022 (arXiv:2209.11895) and of
// Gu and Dao 2023 (arXiv:2312.00752, induction heads).
//
//   pre-norm    x += attention(norm(x))
//   post-norm   x = norm(x + attention(x))
#include <fmt/format.h>

#include "model/block.h"

namespace posbench {
namespace {

class AttentionBlock final : public Block {
 public:
  AttentionBlock(const ModelShape& shape, const PositionEncoding& encoding, const std::string& name, int layer,
                 ParameterLayout& layout)
      : shape_(shape),
        norm_(add_norm(layout, name + ".norm1", shape.width, shape.norm_kind, shape.biases)),
        attention_(shape, encoding, layer, name + ".attention", layout) {}

  void pack(const Parameters& p, bool backward, BlockWeights& weights) const override {
    attention_.pack(p, backward, weights.attention);
  }

  void forward(const SequenceInput& s, const BlockWeights& weights, const std::vector<int>* rows, Rng* rng,
               BlockActivations& a, BlockWorkspace& workspace, Matrix& x,
               Matrices& recurrent_state) const override {
    const Parameters& p = s.parameters;
    a.attention.recurrent_state = recurrent_state;
    if (shape_.pre_norm) {
      norm(p, norm_, x, a.norm1, a.attention.input);
    } else {
      a.attention.input = x;
    }
    attention_.forward(s, weights.attention, rows, a.attention, workspace.attention, workspace.contribution);
    if (drops(s)) dropout(shape_.dropout, *rng, a.attention_mask, workspace.contribution);
    keep_rows(rows, workspace.d_rows, x);
    x += workspace.contribution;
    if (!shape_.pre_norm) {
      norm(p, norm_, x, a.norm1, workspace.contribution);
      x = workspace.contribution;
    }
    if (carries(rows, recurrent_state)) {
      a.feed_forward.output.resize(x.rows(), x.cols());
      a.feed_forward.output.setZero();
      attention_.carry(s, a.attention, a.feed_forward.output, workspace.attention, recurrent_state);
    }
  }

  void backward(const SequenceInput& s, const BlockWeights& weights, const std::vector<int>* rows,
                BlockActivations& a, BlockWorkspace& workspace, Matrix& d_x, Matrices& d_tables,
                Matrices& d_recurrent_state, Gradients& d) const override {
    const Parameters& p = s.parameters;
    const Index T = a.attention.input.rows();
    Matrix &d_branch = workspace.d_branch, &d_contribution = workspace.d_contribution;
    attention_.start_backward(T, workspace.attention);
    const bool carries = this->carries(rows, d_recurrent_state);
    if (carries) {
      d_contribution.resize(d_x.rows(), d_x.cols());
      d_contribution.setZero();  // of the feed-forward that is not there
      attention_.carry_backward(s, a.attention, a.feed_forward.output, workspace.attention, d_contribution, d_tables,
                                d_recurrent_state, d);
    }
    if (!shape_.pre_norm) {
      d_branch.resize(d_x.rows(), d_x.cols());
      d_branch.setZero();
      norm_backward(p, norm_, a.norm1, d_x, d_branch, d);
      d_x = d_branch;
    }
    d_contribution = d_x;
    if (drops(s)) d_contribution.array() *= a.attention_mask.array();
    attention_.backward(s, weights.attention, rows, a.attention, d_contribution, carries, workspace.attention, d_tables,
                        d_recurrent_state, d);
    spread_rows(rows, T, workspace.d_rows, d_x);
    if (shape_.pre_norm) {
      norm_backward(p, norm_, a.norm1, workspace.attention.d_input, d_x, d);
    } else {
      d_x += workspace.attention.d_input;
    }
  }

  double multiply_adds(Index length, Index rows) const override { return attention_.multiply_adds(length, rows); }

  std::vector<AttentionMap> inspect(const SequenceInput& s, BlockActivations& a,
                                    BlockWorkspace& workspace) const override {
    return attention_.inspect(s, a.attention, workspace.attention);
  }

 private:
  bool drops(const SequenceInput& s) const { return s.sequence.training && shape_.dropout > 0; }
  bool carries(const std::vector<int>* rows, const Matrices& recurrent_state) const {
    return !rows && !recurrent_state.empty();
  }

  ModelShape shape_;
  NormParameters norm_;
  AttentionLayer attention_;
};

}  // namespace

std::unique_ptr<Block> make_attention_block(const ModelShape& shape, const PositionEncoding& encoding, int layer,
                                            ParameterLayout& layout) {
  return std::make_unique<AttentionBlock>(shape, encoding, fmt::format("blocks.{}", layer), layer, layout);
}

}  // namespace posbench
