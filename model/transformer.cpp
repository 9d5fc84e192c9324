#include "model/transformer.h"

#include <fmt/format.h>

#include <stdexcept>

#include "model/lanes.h"
#include "model/layers.h"

namespace posbench {
namespace {

/// Zeroes a share of x and scales the rest to keep its mean; `drop` keeps the factors for the backward.
void drop_out(double share, Rng& rng, Matrix& drop, Matrix& x) {
  drop.resize(x.rows(), x.cols());
  for (Index n = 0; n < x.size(); ++n)
    drop.data()[n] = chance(rng, share) ? Real(0) : static_cast<Real>(1 / (1 - share));
  x.array() *= drop.array();
}

/// to = from, which are as narrow as a head.
void copy_columns(const In& from, Out to) {
  const Real* row = from.data();
  Real* copy = to.data();
  for (Index rows = from.rows(); rows > 0; --rows, row += from.outerStride(), copy += to.outerStride())
    for_each_lanes(from.cols(), [&](Index c, Index count) { store(load(row + c, count, 0), copy + c, count); });
}

/// y = the rows of x that are asked for.
template <class From, class To>
void pick(const From& x, const std::vector<int>& asked, To&& y) {
  for (size_t n = 0; n < asked.size(); ++n) y.row(static_cast<Index>(n)) = x.row(asked[n]);
}
/// d_x += the gradient of what was picked, each row where it came from.
template <class From, class To>
void pick_backward(const From& d_y, const std::vector<int>& asked, To&& d_x) {
  for (size_t n = 0; n < asked.size(); ++n) d_x.row(asked[n]) += d_y.row(static_cast<Index>(n));
}

void resize_like(const Tables& tables, Tables& others) {
  others.resize(tables.size());
  for (size_t n = 0; n < tables.size(); ++n) others[n].resize(tables[n].rows(), tables[n].cols());
}

}  // namespace

Transformer::Transformer(const ModelShape& shape, ParameterLayout& layout, const PositionEncoding& encoding)
    : shape_(shape), encoding_(encoding) {
  if (shape.width % shape.heads != 0) {
    throw std::invalid_argument(fmt::format("width {} is not a multiple of heads {}", shape.width, shape.heads));
  }
  const Index C = shape.width, F = shape.inner_width(), V = shape.vocabulary;
  const auto norm = [&](const std::string& name) {
    return Norm{layout.constant(name + ".weight", 1, C, 1), layout.constant(name + ".bias", 1, C, 0)};
  };
  // Weights start uniform within 1 / sqrt(inputs), as PyTorch's linear layers do: small enough for attention to
  // start even.
  const auto dense = [&](const std::string& name, Index inputs, Index outputs) {
    const double bound = 1 / std::sqrt(static_cast<double>(inputs));
    return Dense{layout.uniform(name + ".weight", inputs, outputs, -bound, bound),
                 layout.constant(name + ".bias", 1, outputs, 0)};
  };
  embedding_ = layout.normal("embedding.weight", V, C, 1);
  for (int layer = 0; layer < shape.layers; ++layer) {
    const std::string name = fmt::format("blocks.{}.", layer);
    blocks_.push_back({.norm1 = norm(name + "norm1"),
                       .norm2 = norm(name + "norm2"),
                       .qkv = dense(name + "attention.qkv", C, 3 * C),
                       .out = dense(name + "attention.out", C, C),
                       .up = dense(name + "feed_forward.up", C, F),
                       .down = dense(name + "feed_forward.down", F, C)});
  }
  if (shape.pre_norm) final_norm_ = norm("final_norm");
  if (shape.tied_embeddings) {
    output_.bias = layout.constant("output.bias", 1, V, 0);
  } else {
    output_ = dense("output", C, V);
  }
}

void Transformer::prepare(const Parameters& p, const Sequence& s, StepTables& step, Gradients* gradients) const {
  if (!step.copied) copy_weights(p, step, gradients != nullptr);
  if (step.valid && s.positions.begin(step.positions)) return;
  finish_tables(p, step, gradients);
  step.positions = s.positions;
  encoding_.tables(p, step.positions, step.values);
  if (gradients != nullptr) {
    resize_like(step.values, step.gradient);
    set_zero(step.gradient);
  }
  step.valid = true;
}

void Transformer::finish(const Parameters& p, StepTables& step, Gradients* gradients) const {
  finish_tables(p, step, gradients);
  step.copied = false;
}

void Transformer::copy_weights(const Parameters& p, StepTables& step, bool backward) const {
  step.blocks.resize(blocks_.size());
  for (size_t layer = 0; layer < blocks_.size(); ++layer) {
    const Block& block = blocks_[layer];
    StepTables::Weights& copies = step.blocks[layer];
    copies.qkv.fill(p[block.qkv.weight], backward);
    copies.out.fill(p[block.out.weight], backward);
    copies.up.fill(p[block.up.weight], backward);
    copies.down.fill(p[block.down.weight], backward);
  }
  if (!shape_.tied_embeddings) step.output.fill(p[output_.weight], backward);
  step.copied = true;
}

void Transformer::finish_tables(const Parameters& p, StepTables& step, Gradients* gradients) const {
  if (step.valid && gradients != nullptr) {
    encoding_.tables_backward(p, step.positions, step.values, step.gradient, *gradients);
  }
  step.valid = false;
}

void Transformer::split_heads(const Matrix& qkv, BlockActivations& b) const {
  const Index C = shape_.width, D = shape_.head_width(), T = qkv.rows();
  resize(b.q, shape_.heads, T, D);
  resize(b.k, shape_.heads, T, D);
  resize(b.v, shape_.heads, T, D);
  for (Index h = 0; h < shape_.heads; ++h) {
    copy_columns(qkv.middleCols(h * D, D), b.q[h]);
    copy_columns(qkv.middleCols(C + h * D, D), b.k[h]);
    copy_columns(qkv.middleCols(2 * C + h * D, D), b.v[h]);
  }
}

void Transformer::join_head_gradients(Activations& a) const {
  const Index C = shape_.width, D = shape_.head_width();
  a.d_qkv.resize(a.d_q[0].rows(), 3 * C);
  for (Index h = 0; h < shape_.heads; ++h) {
    copy_columns(a.d_q[h], a.d_qkv.middleCols(h * D, D));
    copy_columns(a.d_k[h], a.d_qkv.middleCols(C + h * D, D));
    copy_columns(a.d_v[h], a.d_qkv.middleCols(2 * C + h * D, D));
  }
}

Heads& Transformer::scores(BlockActivations& b, Activations& a) const {
  return encoding_.keeps_scores() ? b.scores : a.d_scores;
}

AttentionInput Transformer::attention_input(const Parameters& p, const Sequence& s, const Tables& tables,
                                            int layer, BlockActivations& b, Scratch& scratch) const {
  return {s, p, tables, b.carried, layer, b.attention_input, b.q, b.k, b.v, scratch};
}

std::vector<Insight> Transformer::inspect(const Parameters& p, const Sequence& s, const Tables& tables, int layer,
                                          Activations& a) const {
  BlockActivations& b = a.blocks[static_cast<size_t>(layer)];
  const AttentionInput in = attention_input(p, s, tables, layer, b, a.scratch);
  Heads scores, positional;
  resize(scores, shape_.heads, in.length(), in.length());
  resize(positional, shape_.heads, in.length(), in.length());
  encoding_.score(in, scores);
  a.scratch.release();
  encoding_.PositionEncoding::score(in, positional);
  for (size_t h = 0; h < positional.size(); ++h) positional[h] = scores[h] - positional[h];
  std::vector<Insight> insights{{"score", scores}, {"positional part", positional}, {"attention", b.attention}};
  for (Insight& insight : encoding_.inspect(in)) insights.push_back(std::move(insight));
  a.scratch.release();
  return insights;
}

void Transformer::forward(const Parameters& p, const Sequence& s, const StepTables& step, Rng& rng,
                          Activations& a) const {
  const Tables& tables = step.values;
  const Index T = static_cast<Index>(s.tokens.size()), A = static_cast<Index>(s.asked.size());
  const Index C = shape_.width, D = shape_.head_width(), H = shape_.heads;
  const bool dropping = s.training && shape_.dropout > 0;
  a.blocks.resize(blocks_.size());

  a.x.resize(T, C);
  embed(s.tokens, p[embedding_], a.x);
  a.embedded = a.x;
  a.carried.clear();
  encoding_.embed(s, p, tables, a.x, a.carried);
  if (dropping) drop_out(shape_.dropout, rng, a.drop0, a.x);

  for (size_t layer = 0; layer < blocks_.size(); ++layer) {
    const Block& w = blocks_[layer];
    const StepTables::Weights& weights = step.blocks[layer];
    BlockActivations& b = a.blocks[layer];
    const bool last = layer + 1 == blocks_.size();
    const Index R = last ? A : T;  // rows that are read after this block's attention
    b.carried = a.carried;

    b.attention_input.resize(T, C);
    b.normalized1.resize(shape_.pre_norm ? T : R, C);
    b.deviation1.resize(shape_.pre_norm ? T : R, 1);
    if (shape_.pre_norm) {
      normalize_rows(a.x, p[w.norm1.gain], p[w.norm1.bias], b.normalized1, b.deviation1, b.attention_input);
    } else {
      b.attention_input = a.x;
    }
    a.qkv.resize(T, 3 * C);
    linear(b.attention_input, weights.qkv, p[w.qkv.bias], a.qkv);
    split_heads(a.qkv, b);
    const AttentionInput in = attention_input(p, s, tables, static_cast<int>(layer), b, a.scratch);
    Heads& scores = this->scores(b, a);
    resize(scores, H, T, T);
    resize(b.attention, H, T, T);
    resize(b.head_outputs, H, T, D);
    encoding_.score(in, scores);
    a.scratch.release();
    encoding_.normalize(in, scores, b.attention);
    a.scratch.release();
    encoding_.mix(in, b.attention, b.head_outputs);
    a.scratch.release();
    b.joined.resize(R, C);
    if (last) {
      for (Index h = 0; h < H; ++h) pick(b.head_outputs[h], s.asked, b.joined.middleCols(h * D, D));
      a.contribution.resize(A, C);
      pick(a.x, s.asked, a.contribution);
      a.x = a.contribution;
    } else {
      for (Index h = 0; h < H; ++h) copy_columns(b.head_outputs[h], b.joined.middleCols(h * D, D));
    }
    a.contribution.resize(R, C);
    linear(b.joined, weights.out, p[w.out.bias], a.contribution);
    if (dropping) drop_out(shape_.dropout, rng, b.drop1, a.contribution);
    a.x += a.contribution;

    b.feed_forward_input.resize(R, C);
    b.normalized2.resize(R, C);
    b.deviation2.resize(R, 1);
    if (shape_.pre_norm) {
      normalize_rows(a.x, p[w.norm2.gain], p[w.norm2.bias], b.normalized2, b.deviation2, b.feed_forward_input);
    } else {
      normalize_rows(a.x, p[w.norm1.gain], p[w.norm1.bias], b.normalized1, b.deviation1, b.feed_forward_input);
      a.x = b.feed_forward_input;
    }
    b.slope.resize(R, shape_.inner_width());
    b.activated.resize(R, shape_.inner_width());
    b.feed_forward.resize(R, C);
    linear(b.feed_forward_input, weights.up, p[w.up.bias], b.slope);
    shape_.gelu ? gelu(b.slope, b.activated) : relu(b.slope, b.activated);
    linear(b.activated, weights.down, p[w.down.bias], b.feed_forward);
    if (dropping) drop_out(shape_.dropout, rng, b.drop2, b.feed_forward);
    a.x += b.feed_forward;
    if (!shape_.pre_norm) {
      normalize_rows(a.x, p[w.norm2.gain], p[w.norm2.bias], b.normalized2, b.deviation2, a.contribution);
      a.x = a.contribution;
    }
    if (!last && !a.carried.empty()) encoding_.carry(in, b.attention, b.feed_forward, a.carried);
    a.scratch.release();
  }

  a.final_input.resize(A, C);
  a.final_normalized.resize(A, C);
  a.final_deviation.resize(A, 1);
  if (shape_.pre_norm) {
    normalize_rows(a.x, p[final_norm_.gain], p[final_norm_.bias], a.final_normalized, a.final_deviation,
                   a.final_input);
  } else {
    a.final_input = a.x;
  }
  a.logits.resize(A, shape_.vocabulary);
  if (shape_.tied_embeddings) {
    a.logits.rowwise() = p[output_.bias].row(0);
    multiply_add(a.final_input, p[embedding_].transpose(), a.logits, 1 / std::sqrt(static_cast<Real>(C)));
  } else {
    linear(a.final_input, step.output, p[output_.bias], a.logits);
  }
}

void Transformer::backward(const Parameters& p, const Sequence& s, StepTables& step, Activations& a,
                           const Matrix& d_logits, Gradients& d) const {
  const Tables& tables = step.values;
  Tables& d_tables = step.gradient;
  const Index T = static_cast<Index>(s.tokens.size()), A = static_cast<Index>(s.asked.size());
  const Index C = shape_.width, D = shape_.head_width(), H = shape_.heads;
  const bool dropping = s.training && shape_.dropout > 0;

  a.d_final_input.resize(A, C);
  if (shape_.tied_embeddings) {
    const Real scale = 1 / std::sqrt(static_cast<Real>(C));
    multiply(d_logits, p[embedding_], a.d_final_input, scale);
    multiply_add(d_logits.transpose(), a.final_input, d[embedding_], scale);
    kernels().add_column_sums(rows(d_logits), d[output_.bias].data());
  } else {
    first_linear_backward(a.final_input, step.output, d_logits, a.d_final_input, d[output_.weight],
                          d[output_.bias]);
  }
  if (shape_.pre_norm) {
    a.d_x.resize(A, C);
    a.d_x.setZero();
    normalize_rows_backward(p[final_norm_.gain], a.final_normalized, a.final_deviation, a.d_final_input, a.d_x,
                            d[final_norm_.gain], d[final_norm_.bias]);
  } else {
    a.d_x = a.d_final_input;
  }
  resize_like(a.carried, a.d_carried);
  set_zero(a.d_carried);

  for (size_t layer = blocks_.size(); layer-- > 0;) {
    const Block& w = blocks_[layer];
    const StepTables::Weights& weights = step.blocks[layer];
    BlockActivations& b = a.blocks[layer];
    const bool last = layer + 1 == blocks_.size();
    const Index R = last ? A : T;
    const AttentionInput in = attention_input(p, s, tables, static_cast<int>(layer), b, a.scratch);
    a.d_branch.resize(R, C);  // the gradient of what each half of the block reads
    resize(a.d_q, H, T, D);
    resize(a.d_k, H, T, D);
    resize(a.d_v, H, T, D);
    resize(a.d_scores, H, T, T);
    resize(a.d_attention, H, T, T);
    resize(a.d_head_outputs, H, T, D);
    for (Heads* heads : {&a.d_q, &a.d_k, &a.d_v}) set_zero(*heads);
    Matrix& d_attention_input = a.d_joined;  // filled by carry, score and mix; then joined by the projection's
    d_attention_input.resize(T, C);
    d_attention_input.setZero();
    AttentionGradient d_in{d, d_tables, a.d_carried, d_attention_input, a.d_q, a.d_k, a.d_v};

    if (!shape_.pre_norm) {
      a.d_branch.setZero();
      normalize_rows_backward(p[w.norm2.gain], b.normalized2, b.deviation2, a.d_x, a.d_branch, d[w.norm2.gain],
                              d[w.norm2.bias]);
      a.d_x = a.d_branch;
    }
    a.d_contribution = a.d_x;
    const bool carries = !last && !a.carried.empty();
    if (carries) {
      resize(a.d_carrying, H, T, T);
      set_zero(a.d_carrying);
      encoding_.carry_backward(in, b.attention, b.feed_forward, a.d_carrying, a.d_contribution, d_in);
    }
    a.scratch.release();
    if (dropping) a.d_contribution.array() *= b.drop2.array();
    a.d_activated.resize(R, shape_.inner_width());
    first_linear_backward(b.activated, weights.down, a.d_contribution, a.d_activated, d[w.down.weight],
                          d[w.down.bias]);
    a.d_activated.array() *= b.slope.array();
    first_linear_backward(b.feed_forward_input, weights.up, a.d_activated, a.d_branch, d[w.up.weight],
                          d[w.up.bias]);
    if (shape_.pre_norm) {
      normalize_rows_backward(p[w.norm2.gain], b.normalized2, b.deviation2, a.d_branch, a.d_x, d[w.norm2.gain],
                              d[w.norm2.bias]);
    } else {
      a.d_branch += a.d_x;
      a.d_x.setZero();
      normalize_rows_backward(p[w.norm1.gain], b.normalized1, b.deviation1, a.d_branch, a.d_x, d[w.norm1.gain],
                              d[w.norm1.bias]);
    }

    a.d_contribution = a.d_x;
    if (dropping) a.d_contribution.array() *= b.drop1.array();
    first_linear_backward(b.joined, weights.out, a.d_contribution, a.d_branch, d[w.out.weight], d[w.out.bias]);
    if (last) {
      set_zero(a.d_head_outputs);
      for (Index h = 0; h < H; ++h) pick_backward(a.d_branch.middleCols(h * D, D), s.asked, a.d_head_outputs[h]);
      a.d_branch = a.d_x;
      a.d_x.resize(T, C);
      a.d_x.setZero();
      pick_backward(a.d_branch, s.asked, a.d_x);
    } else {
      for (Index h = 0; h < H; ++h) copy_columns(a.d_branch.middleCols(h * D, D), a.d_head_outputs[h]);
    }
    encoding_.mix_backward(in, b.attention, a.d_head_outputs, a.d_attention, d_in);
    for (Index h = 0; carries && h < H; ++h) a.d_attention[h] += a.d_carrying[h];
    a.scratch.release();
    encoding_.normalize_backward(in, scores(b, a), b.attention, a.d_attention, a.d_scores);
    a.scratch.release();
    encoding_.score_backward(in, a.d_scores, d_in);
    a.scratch.release();
    join_head_gradients(a);
    linear_backward(b.attention_input, weights.qkv, a.d_qkv, d_attention_input, d[w.qkv.weight], d[w.qkv.bias]);
    if (shape_.pre_norm) {
      normalize_rows_backward(p[w.norm1.gain], b.normalized1, b.deviation1, d_attention_input, a.d_x,
                              d[w.norm1.gain], d[w.norm1.bias]);
    } else {
      a.d_x += d_attention_input;
    }
  }

  if (dropping) a.d_x.array() *= a.drop0.array();
  encoding_.embed_backward(s, p, tables, a.embedded, a.d_carried, a.d_x, d_tables, d);
  embed_backward(s.tokens, a.d_x, d[embedding_]);
}

double Transformer::multiply_adds(Index length, Index asked) const {
  const double T = static_cast<double>(length), C = shape_.width, F = shape_.inner_width();
  const double pairs = shape_.causal ? T * (T + 1) / 2 : T * T;
  const double A = static_cast<double>(asked), before = T * 3 * C * C + 2 * pairs * C, after = C * C + 2 * C * F;
  return shape_.layers * before + ((shape_.layers - 1) * T + A) * after + A * C * shape_.vocabulary;
}

}  // namespace posbench
