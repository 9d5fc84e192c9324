// Wall attention: every token has a forget gate for each channel of queries and keys, which decays this channel of
// all keys before it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "encodings/aliases.h"
#include "encodings/parts/cumsum.h"
#include "encodings/parts/forget_gate.h"
#include "encodings/registry.h"
#include "model/layers.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench::wall {
namespace {

const EncodingInfo kInfo{
    .name = "wall",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = sum over n of q_i[n] k_j[n] f_h(j+1)[n] ... f_h(i)[n] / sqrt(D)\n"
        "f_h(t)        = sigmoid(W_h x_t + b_h) (D), one gate for each channel n",
    .source = "Pai, Averbuch et al. 2026, blog.tilderesearch.com/blog/wall-attn; fla-org/flash-linear-attention",
    .notes =
        "As in the library, W starts at N(0, 0.02) and b at 8, so that attention starts nearly without positions; "
        "set bias=0 to 4 for near lookups. scalar_gate=true adds the gate of FoX for each head, which starts at "
        "the same b. The library multiplies q and k by powers of 2 of sums of logarithms, block by block. Here "
        "a pair of tokens multiplies the gates on both sides of a token between them, so that no factor exceeds "
        "1 and no large sums are subtracted; the result is the same. The library's output gate and the sink in "
        "the denominator of its kernel are parts of other architectures and are left out. A later version "
        "bounds log f to [-0.86, 0] for kernels with blocks of 64 tokens, which this form does not need. Scores of "
        "distant keys may leave the trained range, because channels that cancel decay at different rates. Only "
        "parts of the blog could be read; W, b and the gates are those of the code.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::accumulated,
    .content_dependent = "token",
    .cached = "C sums of logarithms of gates",
    .variants = {"bias=0", "bias=2,scalar_gate=true"},
};

/// The queries middle, ..., end - 1 and the keys first, ..., middle - 1, all of which they see.
struct PairBlock {
  Index first, middle, end;

  auto queries(auto& m) const { return m.middleRows(middle, end - middle); }
  auto keys(auto& m) const { return m.middleRows(first, middle - first); }
  auto pairs(auto& m) const { return m.block(middle, first, end - middle, middle - first); }
};

/// Calls f with blocks of 1, 2, 4, ... keys that together have each pair of a query and an earlier key once. The
/// block of a pair does not depend on the length.
template <class F>
void for_each_block(Index length, F f) {
  for (Index size = 1; size < length; size *= 2) {
    for (Index middle = size; middle < length; middle += 2 * size) {
      f(PairBlock{middle - size, middle, std::min(middle + size, length)});
    }
  }
}

/// Computes, in the rows of its tokens, the product of the gates from the first query to each query and from the
/// token after each key to the last key. The product of both is the decay from key to query.
void decays(const In& log_gates, const PairBlock& b, Matrix& decay) {
  auto queries = b.queries(decay), keys = b.keys(decay);
  queries = b.queries(log_gates);
  cumsum_over_rows(queries);
  const Index last = keys.rows() - 1;
  keys.topRows(last) = log_gates.middleRows(b.first + 1, last);
  keys.row(last).setZero();
  cumsum_over_rows_backward(keys);
  auto rows = decay.middleRows(b.first, b.end - b.first);
  exponential(rows, rows);
}

/// Returns the D columns of head h.
auto of_head(auto& m, size_t h, Index D) { return m.middleCols(static_cast<Index>(h) * D, D); }

class Wall final : public PositionEncoding {
 public:
  struct Options {
    double bias = 8;
    bool scalar_gate = false;
    void describe(OptionTable& o) {
      o.number("bias", bias, -20, 20, "initial b; a gate starts at sigmoid(b), and a greater b remembers longer");
      o.flag("scalar_gate", scalar_gate, "the gate of FoX in addition, one for each head");
    }
  };

  Wall(const Options& options, const ModelConfig& config, ParameterLayout& layout) : PositionEncoding(config) {
    const Index channels = config.heads * config.head_width();
    for (int layer = 0; layer < config.layers; ++layer) {
      weights_.push_back(layout.normal(fmt::format("wall.gate.{}.weight", layer), config.width, channels, 0.02));
      biases_.push_back(layout.constant(fmt::format("wall.gate.{}.bias", layer), 1, channels, options.bias));
    }
    if (options.scalar_gate) scalar_gate_.emplace("wall.scalar", Real(1), options.bias, config, layout);
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Index T = in.length(), D = config_.head_width();
    const Matrix& log_gates = this->log_gates(in);
    Matrix& decay = in.scratch(T, D);
    for (size_t h = 0; h < scores.size(); ++h) {
      for (Index t = 0; t < T; ++t) scores[h](t, t) = scale() * dot(in.q[h].row(t), in.k[h].row(t));
      for_each_block(T, [&](const PairBlock& b) {
        decays(of_head(log_gates, h, D), b, decay);
        b.queries(decay).array() *= b.queries(in.q[h]).array();
        b.keys(decay).array() *= b.keys(in.k[h]).array();
        multiply(b.queries(decay), b.keys(decay).transpose(), b.pairs(scores[h]), scale());
      });
    }
    if (scalar_gate_) scalar_gate_->add(in, 1, scores);
  }

  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length(), D = config_.head_width();
    const Matrix& log_gates = this->log_gates(in);
    Matrix &decay = in.scratch(T, D), &decayed = in.scratch(T, D), &d_decayed = in.scratch(T, D);
    Matrix &d_q = in.scratch(T, D), &d_k = in.scratch(T, D), &d_logits = in.scratch(T, log_gates.cols());
    for (size_t h = 0; h < d_scores.size(); ++h) {
      d_q.setZero();
      d_k.setZero();
      for_each_block(T, [&](const PairBlock& b) {
        decays(of_head(log_gates, h, D), b, decay);
        b.queries(decayed) = b.queries(decay).cwiseProduct(b.queries(in.q[h]));
        b.keys(decayed) = b.keys(decay).cwiseProduct(b.keys(in.k[h]));
        multiply(b.pairs(d_scores[h]), b.keys(decayed), b.queries(d_decayed), scale());
        multiply(b.pairs(d_scores[h]).transpose(), b.queries(decayed), b.keys(d_decayed), scale());
        b.queries(d_q) += b.queries(decay).cwiseProduct(b.queries(d_decayed));
        b.keys(d_k) += b.keys(decay).cwiseProduct(b.keys(d_decayed));
      });
      // A score has the factor exp(F_i - F_j) with the sums F of log f: d_F = q d_q - k d_k.
      auto d_log_gate = of_head(d_logits, h, D);
      d_log_gate = in.q[h].cwiseProduct(d_q) - in.k[h].cwiseProduct(d_k);
      cumsum_over_rows_backward(d_log_gate);
      d.q[h] += d_q;
      d.k[h] += d_k;
      for (Index t = 0; t < T; ++t) {
        const Real d_score = scale() * d_scores[h](t, t);
        d.q[h].row(t) += d_score * in.k[h].row(t);
        d.k[h].row(t) += d_score * in.q[h].row(t);
      }
    }
    Matrix& closed = closing_logits(in);  // 1 - f, the derivative of log f
    sigmoid(closed, closed);
    d_logits.array() *= closed.array();
    linear_backward(in.x, in.parameters[weights_[in.layer]], d_logits, d.x, d.parameters[weights_[in.layer]],
                    d.parameters[biases_[in.layer]]);
    if (scalar_gate_) scalar_gate_->add_backward(in, 1, d_scores, d);
  }

 private:
  /// Returns -(W x + b) (T, H D), in scratch.
  Matrix& closing_logits(const AttentionInput& in) const {
    Matrix& logits = in.scratch(in.length(), weights_[in.layer].cols);
    linear(in.x, in.parameters[weights_[in.layer]], in.parameters[biases_[in.layer]], logits);
    logits *= -1;
    return logits;
  }
  /// Returns log f (T, H D), in scratch.
  const Matrix& log_gates(const AttentionInput& in) const {
    Matrix& log_gates = closing_logits(in);
    softplus(log_gates, log_gates);
    log_gates *= -1;
    return log_gates;
  }

  std::vector<Parameter> weights_, biases_;  // W (C, H D), b (1, H D), one for each layer
  std::optional<ForgetGate> scalar_gate_;
};

const RegisterEncoding<Wall> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"wall_attention"}};

}  // namespace
}  // namespace posbench::wall
