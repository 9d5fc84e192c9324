#include "model/attention_layer.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/lanes.h"
#include "model/token_convolution.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// to = from, for matrices as wide as a head.
void copy_columns(const In& from, Out to) {
  const Real* row = from.data();
  Real* copy = to.data();
  for (Index rows = from.rows(); rows > 0; --rows, row += from.outerStride(), copy += to.outerStride())
    for_each_lanes(from.cols(), [&](Index c, Index count) { store(load(row + c, count, 0), copy + c, count); });
}

}  // namespace

void attend(const PositionEncoding& encoding, const AttentionInput& in, Heads& scores, Heads& attention,
            Heads& output) {
  StageCall(encoding, in)->score(in, scores);
  StageCall(encoding, in)->normalize(in, scores, attention);
  StageCall(encoding, in)->mix(in, attention, output);
}

AttentionLayer::AttentionLayer(const ModelConfig& config, const PositionEncoding& encoding, int layer,
                               const std::string& name, ParameterLayout& layout)
    : config_(config),
      encoding_(encoding),
      layer_(layer),
      qkv_(add_dense(layout, name + ".qkv", config.width, 3 * config.width, config.biases)),
      out_(add_dense(layout, name + ".out", config.width, config.width, config.biases)),
      adjustment_(config) {
  if (config.convolution.heads)
    convolution_ = add_residual_convolution(layout, name + ".convolution", 3 * config.width);
  if (!config.qk_norm) return;
  q_norm_ = add_norm(layout, name + ".q_norm", config.head_width(), NormKind::rms_norm);
  k_norm_ = add_norm(layout, name + ".k_norm", config.head_width(), NormKind::rms_norm);
}

void AttentionLayer::pack(const Parameters& p, bool backward, AttentionWeights& weights) const {
  weights.qkv.fill(p[qkv_.weight], backward);
  weights.out.fill(p[out_.weight], backward);
}

AttentionInput AttentionLayer::input(const SequenceInput& s, AttentionActivations& a, Scratch& scratch) const {
  return {s.sequence, s.parameters, s.tables, a.recurrent_state, layer_, a.input, a.q, a.k, a.v, scratch};
}

void AttentionLayer::split_heads(const Matrix& qkv, AttentionActivations& a) const {
  const Index C = config_.width, D = config_.head_width(), T = qkv.rows();
  for (Heads* heads : {&a.q, &a.k, &a.v}) resize(*heads, config_.heads, T, D);
  for (Index h = 0; h < config_.heads; ++h) {
    copy_columns(qkv.middleCols(h * D, D), a.q[h]);
    copy_columns(qkv.middleCols(C + h * D, D), a.k[h]);
    copy_columns(qkv.middleCols(2 * C + h * D, D), a.v[h]);
  }
}

void AttentionLayer::split_heads_backward(AttentionWorkspace& workspace) const {
  const Index C = config_.width, D = config_.head_width();
  workspace.d_qkv.resize(workspace.d_q[0].rows(), 3 * C);
  for (Index h = 0; h < config_.heads; ++h) {
    copy_columns(workspace.d_q[h], workspace.d_qkv.middleCols(h * D, D));
    copy_columns(workspace.d_k[h], workspace.d_qkv.middleCols(C + h * D, D));
    copy_columns(workspace.d_v[h], workspace.d_qkv.middleCols(2 * C + h * D, D));
  }
}

void AttentionLayer::normalize_heads(const Parameters& p, AttentionActivations& a) const {
  if (!config_.qk_norm) return;
  a.q_norm.resize(a.q.size());
  a.k_norm.resize(a.k.size());
  for (size_t h = 0; h < a.q.size(); ++h) {
    norm(p, q_norm_, a.q[h], a.q_norm[h], a.q[h]);
    norm(p, k_norm_, a.k[h], a.k_norm[h], a.k[h]);
  }
}

void AttentionLayer::normalize_heads_backward(const Parameters& p, AttentionActivations& a,
                                              AttentionWorkspace& workspace, Gradients& d) const {
  if (!config_.qk_norm) return;
  Matrix& d_normalized = workspace.scratch(a.q[0].rows(), config_.head_width());
  for (size_t h = 0; h < a.q.size(); ++h) {
    for (const bool query : {true, false}) {
      Matrix& d_head = query ? workspace.d_q[h] : workspace.d_k[h];
      d_normalized = d_head;
      d_head.setZero();
      norm_backward(p, query ? q_norm_ : k_norm_, query ? a.q_norm[h] : a.k_norm[h], d_normalized, d_head, d);
    }
  }
  workspace.scratch.release();
}

Index AttentionLayer::shifted_components() const {
  if (config_.key_offset == 0) return 0;
  return std::max<Index>(1, std::lround(config_.key_offset * config_.head_width()));
}

void AttentionLayer::shift_keys(Heads& k) const {
  const Index count = shifted_components();
  for (Matrix& head : k) {
    for (Index t = head.rows(); count > 0 && --t > 0;) head.row(t).tail(count) = head.row(t - 1).tail(count);
  }
}

void AttentionLayer::shift_keys_backward(Heads& d_k) const {
  const Index count = shifted_components();
  for (Matrix& d_head : d_k) {
    const Index T = d_head.rows();
    if (count == 0 || T < 2) continue;
    d_head.row(0).tail(count) += d_head.row(1).tail(count);
    for (Index t = 1; t + 1 < T; ++t) d_head.row(t).tail(count) = d_head.row(t + 1).tail(count);
    d_head.row(T - 1).tail(count).setZero();
  }
}

void AttentionLayer::join_heads(const SequenceInput& s, AttentionActivations& a) const {
  const Index D = config_.head_width();
  a.joined.resize(s.rows ? static_cast<Index>(s.rows->size()) : a.input.rows(), config_.width);
  for (Index h = 0; h < config_.heads; ++h) {
    if (s.rows) {
      gather(a.head_outputs[h], *s.rows, a.joined.middleCols(h * D, D));
    } else {
      copy_columns(a.head_outputs[h], a.joined.middleCols(h * D, D));
    }
  }
}

void AttentionLayer::join_heads_backward(const SequenceInput& s, AttentionWorkspace& workspace) const {
  const Index D = config_.head_width();
  resize(workspace.d_head_outputs, config_.heads, workspace.d_input.rows(), D);
  if (s.rows) set_zero(workspace.d_head_outputs);
  for (Index h = 0; h < config_.heads; ++h) {
    const auto d_head = workspace.d_joined.middleCols(h * D, D);
    if (s.rows) {
      scatter_add(d_head, *s.rows, workspace.d_head_outputs[h]);
    } else {
      copy_columns(d_head, workspace.d_head_outputs[h]);
    }
  }
}

void AttentionLayer::forward(const AttentionContext& c, Matrix& result) const {
  const Parameters& p = c.input.parameters;
  AttentionActivations& a = c.activations;
  const Index T = a.input.rows(), C = config_.width, D = config_.head_width(), H = config_.heads;
  c.workspace.qkv.resize(T, 3 * C);
  linear(a.input, c.weights.qkv, p[qkv_.bias], c.workspace.qkv);
  if (convolution_) residual_convolution(p[*convolution_], c.workspace.qkv, a.unmixed);
  split_heads(c.workspace.qkv, a);
  normalize_heads(p, a);
  shift_keys(a.k);
  resize(a.scores, H, T, T);
  resize(a.attention, H, T, T);
  resize(a.head_outputs, H, T, D);
  const AttentionInput in = input(c.input, a, c.workspace.scratch);
  StageCall(encoding_, in)->score(in, a.scores);
  adjustment_.apply(a.scores);
  StageCall(encoding_, in)->normalize(in, a.scores, a.attention);
  StageCall(encoding_, in)->mix(in, a.attention, a.head_outputs);
  join_heads(c.input, a);
  result.resize(a.joined.rows(), C);
  linear(a.joined, c.weights.out, p[out_.bias], result);
}

void AttentionLayer::start_backward(const AttentionContext& c) const {
  AttentionWorkspace& workspace = c.workspace;
  const Index T = c.activations.input.rows();
  for (Heads* heads : {&workspace.d_q, &workspace.d_k, &workspace.d_v}) {
    resize(*heads, config_.heads, T, config_.head_width());
    set_zero(*heads);
  }
  workspace.d_input.resize(T, config_.width);
  workspace.d_input.setZero();
}

void AttentionLayer::backward(const AttentionContext& c, const Matrix& d_result, LayerGradient& d) const {
  AttentionActivations& a = c.activations;
  AttentionWorkspace& w = c.workspace;
  const Index T = a.input.rows(), H = config_.heads;
  const AttentionInput in = input(c.input, a, w.scratch);
  AttentionGradient d_in{d.parameters, d.tables, d.recurrent_state, w.d_input, w.d_q, w.d_k, w.d_v};
  w.d_joined.resize(a.joined.rows(), config_.width);
  resize(w.d_attention, H, T, T);
  resize(w.d_scores, H, T, T);

  linear_backward(a.joined, c.weights.out, d_result, w.d_joined, d.parameters[out_.weight],
                  d.parameters[out_.bias], Accumulate::no);
  join_heads_backward(c.input, w);
  StageCall(encoding_, in)->mix_backward(in, a.attention, w.d_head_outputs, w.d_attention, d_in);
  for (Index h = 0; carries(c) && h < H; ++h) w.d_attention[h] += w.d_carrying[h];
  StageCall(encoding_, in)->normalize_backward(in, a.scores, a.attention, w.d_attention, w.d_scores, d_in);
  adjustment_.apply_backward(w.d_scores);
  StageCall(encoding_, in)->score_backward(in, w.d_scores, d_in);
  shift_keys_backward(w.d_k);
  normalize_heads_backward(c.input.parameters, a, w, d.parameters);
  split_heads_backward(w);
  if (convolution_) {
    residual_convolution_backward(c.input.parameters[*convolution_], a.unmixed, w.d_qkv, w.d_mixed,
                                  d.parameters[*convolution_]);
  }
  linear_backward(a.input, c.weights.qkv, w.d_qkv, w.d_input, d.parameters[qkv_.weight], d.parameters[qkv_.bias]);
}

void AttentionLayer::carry(const AttentionContext& c, const Matrix& feed_forward, Matrices& next) const {
  if (!carries(c)) return;
  const AttentionInput in = input(c.input, c.activations, c.workspace.scratch);
  StageCall(encoding_, in)->carry(in, c.activations.attention, feed_forward, next);
}

void AttentionLayer::carry_backward(const AttentionContext& c, const Matrix& feed_forward, Matrix& d_feed_forward,
                                    LayerGradient& d) const {
  if (!carries(c)) return;
  AttentionActivations& a = c.activations;
  AttentionWorkspace& w = c.workspace;
  resize(w.d_carrying, config_.heads, a.input.rows(), a.input.rows());
  set_zero(w.d_carrying);
  AttentionGradient d_in{d.parameters, d.tables, d.recurrent_state, w.d_input, w.d_q, w.d_k, w.d_v};
  const AttentionInput in = input(c.input, a, w.scratch);
  StageCall(encoding_, in)->carry_backward(in, a.attention, feed_forward, w.d_carrying, d_feed_forward, d_in);
}

double AttentionLayer::multiply_adds(Index length, Index rows) const {
  const double T = static_cast<double>(length), R = static_cast<double>(rows), C = config_.width;
  const double pairs = config_.causal ? T * (T + 1) / 2 : T * T;
  const double convolution = convolution_ ? T * 3 * C * kConvolutionTaps : 0;
  return T * 3 * C * C + convolution + 2 * pairs * C + R * C * C;
}

}  // namespace posbench::inline POSBENCH_REAL
