#include "model/attention_layer.h"

#include "model/attention.h"
#include "model/hidden.h"
#include "model/lanes.h"

namespace posbench {
namespace {

/// to = from, for matrices as wide as a head.
void copy_columns(const In& from, Out to) {
  const Real* row = from.data();
  Real* copy = to.data();
  for (Index rows = from.rows(); rows > 0; --rows, row += from.outerStride(), copy += to.outerStride())
    for_each_lanes(from.cols(), [&](Index c, Index count) { store(load(row + c, count, 0), copy + c, count); });
}

}  // namespace

void AttentionStages::score(const AttentionInput& in, Heads& scores) const {
  encoding_.score(in, scores);
  in.scratch.release();
}

void AttentionStages::normalize(const AttentionInput& in, const Heads& scores, Heads& attention) const {
  encoding_.normalize(in, scores, attention);
  in.scratch.release();
}

void AttentionStages::mix(const AttentionInput& in, const Heads& attention, Heads& output) const {
  encoding_.mix(in, attention, output);
  in.scratch.release();
}

void AttentionStages::carry(const AttentionInput& in, const Heads& attention, const Matrix& feed_forward,
                            Matrices& next) const {
  encoding_.carry(in, attention, feed_forward, next);
  in.scratch.release();
}

void AttentionStages::attend(const AttentionInput& in, Heads& scores, Heads& attention, Heads& output) const {
  score(in, scores);
  normalize(in, scores, attention);
  mix(in, attention, output);
}

void AttentionStages::score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const {
  encoding_.score_backward(in, d_scores, d);
  in.scratch.release();
}

void AttentionStages::normalize_backward(const AttentionInput& in, const Heads& scores, const Heads& attention,
                                         const Heads& d_attention, Heads& d_scores) const {
  encoding_.normalize_backward(in, scores, attention, d_attention, d_scores);
  in.scratch.release();
}

void AttentionStages::mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output,
                                   Heads& d_attention, AttentionGradient& d) const {
  encoding_.mix_backward(in, attention, d_output, d_attention, d);
  in.scratch.release();
}

void AttentionStages::carry_backward(const AttentionInput& in, const Heads& attention, const Matrix& feed_forward,
                                     Heads& d_attention, Matrix& d_feed_forward, AttentionGradient& d) const {
  encoding_.carry_backward(in, attention, feed_forward, d_attention, d_feed_forward, d);
  in.scratch.release();
}

ScoreAdjustment::ScoreAdjustment(const ModelShape& shape) : shape_(shape) {}

/// The keys that query i sees, besides sinks: those of its window, and of its segment and the one before. With the keys
/// of the segment before, a layer reads what Transformer-XL (Dai et al. 2019, arXiv:1901.02860) keeps as its memory.
ScoreAdjustment::Range ScoreAdjustment::seen(Index i, Index length) const {
  Range seen{0, visible(i, length, shape_.causal)};
  if (shape_.window > 0) {
    seen = {std::max<Index>(0, i - shape_.window + 1), std::min<Index>(seen.end, i + shape_.window)};
  }
  if (shape_.segment > 0) {
    const Index start = i / shape_.segment * shape_.segment;
    seen = {std::max<Index>(seen.first, start - shape_.segment), std::min<Index>(seen.end, start + shape_.segment)};
  }
  return seen;
}

/// The number of keys that query i sees.
Index ScoreAdjustment::keys(Index i, Index length) const {
  const Range seen = this->seen(i, length);
  return seen.end - seen.first + std::min<Index>(shape_.sinks, seen.first);
}

Real ScoreAdjustment::factor(Index i, Index length) const {
  if (shape_.logit_scale == LogitScale::constant) return 1;
  const Index trained = std::max(2, shape_.trained_length);
  const auto log = [](Index count) { return std::log(static_cast<double>(count)); };
  const double ratio = log(keys(i, length)) / log(std::max<Index>(2, keys(trained - 1, trained)));
  return static_cast<Real>(shape_.logit_scale == LogitScale::log_length ? ratio : std::max(1.0, ratio));
}

/// Multiplies the entries of each row by its factor; hide(row, j) for those that the query does not see.
template <class Hide>
void ScoreAdjustment::for_each_row(Heads& scores, Hide hide) const {
  if (!hides() && shape_.logit_scale == LogitScale::constant) return;
  for (Matrix& head : scores) {
    const Index T = head.rows();
    for (Index i = 0; i < T; ++i) {
      Real* row = head.row(i).data();
      const Index keys = visible(i, T, shape_.causal);
      const Real factor = this->factor(i, T);
      for (Index j = 0; j < keys; ++j) row[j] = is_hidden(row[j]) ? row[j] : factor * row[j];
      if (!hides()) continue;
      const Range seen = this->seen(i, T);
      for (Index j = shape_.sinks; j < seen.first; ++j) hide(row, j);
      for (Index j = std::max<Index>(shape_.sinks, seen.end); j < keys; ++j) hide(row, j);
    }
  }
}

void ScoreAdjustment::apply(Heads& scores) const {
  for_each_row(scores, [](Real* row, Index j) { row[j] = kHidden; });
}

void ScoreAdjustment::apply_backward(Heads& d_scores) const {
  for_each_row(d_scores, [](Real* row, Index j) { row[j] = 0; });
}

AttentionLayer::AttentionLayer(const ModelShape& shape, const PositionEncoding& encoding, int layer,
                               const std::string& name, ParameterLayout& layout)
    : shape_(shape),
      stages_(encoding),
      layer_(layer),
      qkv_(add_dense(layout, name + ".qkv", shape.width, 3 * shape.width, shape.biases)),
      out_(add_dense(layout, name + ".out", shape.width, shape.width, shape.biases)),
      adjustment_(shape) {
  if (!shape.qk_norm) return;
  q_norm_ = add_norm(layout, name + ".q_norm", shape.head_width(), NormKind::rms_norm);
  k_norm_ = add_norm(layout, name + ".k_norm", shape.head_width(), NormKind::rms_norm);
}

void AttentionLayer::pack(const Parameters& p, bool backward, PackedWeights& weights) const {
  weights.qkv.fill(p[qkv_.weight], backward);
  weights.out.fill(p[out_.weight], backward);
}

AttentionInput AttentionLayer::input(const SequenceInput& s, AttentionActivations& a, Scratch& scratch) const {
  return {s.sequence, s.parameters, s.tables, a.recurrent_state, layer_, a.input, a.q, a.k, a.v, scratch};
}

Heads& AttentionLayer::scores(AttentionActivations& a, AttentionWorkspace& workspace) const {
  return stages_.encoding().keeps_scores() ? a.scores : workspace.d_scores;
}

void AttentionLayer::split_heads(const Matrix& qkv, AttentionActivations& a) const {
  const Index C = shape_.width, D = shape_.head_width(), T = qkv.rows();
  for (Heads* heads : {&a.q, &a.k, &a.v}) resize(*heads, shape_.heads, T, D);
  for (Index h = 0; h < shape_.heads; ++h) {
    copy_columns(qkv.middleCols(h * D, D), a.q[h]);
    copy_columns(qkv.middleCols(C + h * D, D), a.k[h]);
    copy_columns(qkv.middleCols(2 * C + h * D, D), a.v[h]);
  }
}

void AttentionLayer::normalize_heads(const Parameters& p, AttentionActivations& a) const {
  if (!shape_.qk_norm) return;
  a.q_norm.resize(a.q.size());
  a.k_norm.resize(a.k.size());
  for (size_t h = 0; h < a.q.size(); ++h) {
    norm(p, q_norm_, a.q[h], a.q_norm[h], a.q[h]);
    norm(p, k_norm_, a.k[h], a.k_norm[h], a.k[h]);
  }
}

void AttentionLayer::normalize_heads_backward(const Parameters& p, AttentionActivations& a,
                                              AttentionWorkspace& workspace, Gradients& d) const {
  if (!shape_.qk_norm) return;
  Matrix& d_normalized = workspace.scratch(a.q[0].rows(), shape_.head_width());
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

void AttentionLayer::join_head_gradients(AttentionWorkspace& workspace) const {
  const Index C = shape_.width, D = shape_.head_width();
  workspace.d_qkv.resize(workspace.d_q[0].rows(), 3 * C);
  for (Index h = 0; h < shape_.heads; ++h) {
    copy_columns(workspace.d_q[h], workspace.d_qkv.middleCols(h * D, D));
    copy_columns(workspace.d_k[h], workspace.d_qkv.middleCols(C + h * D, D));
    copy_columns(workspace.d_v[h], workspace.d_qkv.middleCols(2 * C + h * D, D));
  }
}

void AttentionLayer::forward(const SequenceInput& s, const PackedWeights& weights, const std::vector<int>* rows,
                             AttentionActivations& a, AttentionWorkspace& workspace, Matrix& result) const {
  const Index T = a.input.rows(), C = shape_.width, D = shape_.head_width(), H = shape_.heads;
  workspace.qkv.resize(T, 3 * C);
  linear(a.input, weights.qkv, s.parameters[qkv_.bias], workspace.qkv);
  split_heads(workspace.qkv, a);
  normalize_heads(s.parameters, a);
  Heads& scores = this->scores(a, workspace);
  resize(scores, H, T, T);
  resize(a.attention, H, T, T);
  resize(a.head_outputs, H, T, D);
  const AttentionInput in = input(s, a, workspace.scratch);
  stages_.score(in, scores);
  adjustment_.apply(scores);
  stages_.normalize(in, scores, a.attention);
  stages_.mix(in, a.attention, a.head_outputs);
  a.joined.resize(rows ? static_cast<Index>(rows->size()) : T, C);
  for (Index h = 0; h < H; ++h) {
    if (rows) {
      gather(a.head_outputs[h], *rows, a.joined.middleCols(h * D, D));
    } else {
      copy_columns(a.head_outputs[h], a.joined.middleCols(h * D, D));
    }
  }
  result.resize(a.joined.rows(), C);
  linear(a.joined, weights.out, s.parameters[out_.bias], result);
}

void AttentionLayer::carry(const SequenceInput& s, AttentionActivations& a, const Matrix& feed_forward,
                           AttentionWorkspace& workspace, Matrices& next) const {
  stages_.carry(input(s, a, workspace.scratch), a.attention, feed_forward, next);
}

void AttentionLayer::start_backward(Index length, AttentionWorkspace& workspace) const {
  const Index T = length, D = shape_.head_width(), H = shape_.heads;
  for (Heads* heads : {&workspace.d_q, &workspace.d_k, &workspace.d_v}) {
    resize(*heads, H, T, D);
    set_zero(*heads);
  }
  workspace.d_input.resize(T, shape_.width);
  workspace.d_input.setZero();
}

void AttentionLayer::carry_backward(const SequenceInput& s, AttentionActivations& a, const Matrix& feed_forward,
                                    AttentionWorkspace& workspace, Matrix& d_feed_forward, Matrices& d_tables,
                                    Matrices& d_recurrent_state, Gradients& d) const {
  resize(workspace.d_carrying, shape_.heads, a.input.rows(), a.input.rows());
  set_zero(workspace.d_carrying);
  AttentionGradient d_in{
      d, d_tables, d_recurrent_state, workspace.d_input, workspace.d_q, workspace.d_k, workspace.d_v};
  stages_.carry_backward(input(s, a, workspace.scratch), a.attention, feed_forward, workspace.d_carrying,
                         d_feed_forward, d_in);
}

void AttentionLayer::backward(const SequenceInput& s, const PackedWeights& weights, const std::vector<int>* rows,
                              AttentionActivations& a, const Matrix& d_result, bool carries,
                              AttentionWorkspace& workspace, Matrices& d_tables, Matrices& d_recurrent_state,
                              Gradients& d) const {
  const Index T = a.input.rows(), D = shape_.head_width(), H = shape_.heads;
  const AttentionInput in = input(s, a, workspace.scratch);
  AttentionGradient d_in{
      d, d_tables, d_recurrent_state, workspace.d_input, workspace.d_q, workspace.d_k, workspace.d_v};
  workspace.d_joined.resize(a.joined.rows(), shape_.width);
  resize(workspace.d_head_outputs, H, T, D);
  resize(workspace.d_attention, H, T, T);
  resize(workspace.d_scores, H, T, T);

  first_linear_backward(a.joined, weights.out, d_result, workspace.d_joined, d[out_.weight], d[out_.bias]);
  if (rows) set_zero(workspace.d_head_outputs);
  for (Index h = 0; h < H; ++h) {
    const auto d_head = workspace.d_joined.middleCols(h * D, D);
    if (rows) {
      scatter_add(d_head, *rows, workspace.d_head_outputs[h]);
    } else {
      copy_columns(d_head, workspace.d_head_outputs[h]);
    }
  }
  stages_.mix_backward(in, a.attention, workspace.d_head_outputs, workspace.d_attention, d_in);
  for (Index h = 0; carries && h < H; ++h) workspace.d_attention[h] += workspace.d_carrying[h];
  stages_.normalize_backward(in, scores(a, workspace), a.attention, workspace.d_attention, workspace.d_scores);
  adjustment_.apply_backward(workspace.d_scores);
  stages_.score_backward(in, workspace.d_scores, d_in);
  normalize_heads_backward(s.parameters, a, workspace, d);
  join_head_gradients(workspace);
  linear_backward(a.input, weights.qkv, workspace.d_qkv, workspace.d_input, d[qkv_.weight], d[qkv_.bias]);
}

double AttentionLayer::multiply_adds(Index length, Index rows) const {
  const double T = static_cast<double>(length), R = static_cast<double>(rows), C = shape_.width;
  const double pairs = shape_.causal ? T * (T + 1) / 2 : T * T;
  return T * 3 * C * C + 2 * pairs * C + R * C * C;
}

namespace {

/// The four terms of scores that are bilinear in (content of the query, position of the query) and (content of the key,
/// position of the key), found by setting q, k or both to zero. Empty where scores are not bilinear, or where none depends
/// on content and position both: then "positional part" says all.
std::vector<AttentionMap> four_terms(const AttentionStages& stages, const AttentionInput& in, const Heads& scores) {
  Heads zero_q = in.q, zero_k = in.k, double_q = in.q;
  for (Matrix& q : zero_q) q.setZero();
  for (Matrix& k : zero_k) k.setZero();
  for (Matrix& q : double_q) q *= 2;
  const auto score = [&](const Heads& q, const Heads& k) {
    Heads result(scores);
    stages.score({in.sequence, in.parameters, in.tables, in.recurrent_state, in.layer, in.x, q, k, in.v, in.scratch}, result);
    return result;
  };
  const Heads without_q = score(zero_q, in.k), without_k = score(in.q, zero_k), neither = score(zero_q, zero_k),
              doubled = score(double_q, in.k);
  std::vector<AttentionMap> terms{{"content-content", scores},
                                  {"content-position", without_k},
                                  {"position-content", without_q},
                                  {"position-position", neither}};
  double crossed = 0, wrong = 0, largest = 0;
  for (size_t h = 0; h < scores.size(); ++h) {
    terms[1].values[h] -= neither[h];
    terms[2].values[h] -= neither[h];
    terms[0].values[h] -= terms[1].values[h] + without_q[h];
    for (Index i = 0; i < in.length(); ++i) {
      for (Index j = 0; j <= i; ++j) {
        crossed = std::max<double>({crossed, std::abs(terms[1].values[h](i, j)), std::abs(terms[2].values[h](i, j))});
        const double expected = 2 * scores[h](i, j) - without_q[h](i, j);
        wrong = std::max<double>(wrong, std::abs(doubled[h](i, j) - expected));
        largest = std::max<double>(largest, std::abs(scores[h](i, j)));
      }
    }
  }
  constexpr double kRounding = 1e-4;  // of a float's sums, relative
  const bool bilinear = std::isfinite(wrong) && wrong <= kRounding * (1 + largest);
  return bilinear && crossed > kRounding * (1 + largest) ? terms : std::vector<AttentionMap>{};
}

}  // namespace

std::vector<AttentionMap> AttentionLayer::inspect(const SequenceInput& s, AttentionActivations& a,
                                                  AttentionWorkspace& workspace) const {
  const AttentionInput in = input(s, a, workspace.scratch);
  Heads scores, positional;
  resize(scores, shape_.heads, in.length(), in.length());
  resize(positional, shape_.heads, in.length(), in.length());
  stages_.score(in, scores);
  stages_.encoding().PositionEncoding::score(in, positional);
  for (size_t h = 0; h < positional.size(); ++h) positional[h] = scores[h] - positional[h];
  adjustment_.apply(scores);
  std::vector<AttentionMap> maps{{"score", scores}, {"positional part", positional}, {"attention", a.attention}};
  for (AttentionMap& map : stages_.encoding().inspect(in)) maps.push_back(std::move(map));
  for (AttentionMap& map : four_terms(stages_, in, scores)) maps.push_back(std::move(map));
  workspace.scratch.release();
  return maps;
}

}  // namespace posbench
