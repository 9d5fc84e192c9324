#include "model/transformer.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// Returns the scale of the output layer with tied embeddings.
Real tied_scale(const ModelConfig& config) { return 1 / std::sqrt(static_cast<Real>(config.width)); }

/// Adds the last row of `from` to `rows`.
void append_last_row(const Matrix& from, Matrix& rows) {
  Matrix longer(rows.rows() + 1, from.cols());
  if (rows.rows() > 0) longer.topRows(rows.rows()) = rows;
  longer.bottomRows(1) = from.bottomRows(1);
  rows = std::move(longer);
}

void drop_rows(Index count, Matrix& rows) {
  const Matrix kept(rows.bottomRows(rows.rows() - count));
  rows = kept;
}

}  // namespace

Transformer::Transformer(const ModelConfig& config, ParameterLayout& layout, const PositionEncoding& encoding)
    : config_(config), encoding_(encoding) {
  if (config.width % config.heads != 0) {
    throw InputError(fmt::format("width {} is not a multiple of heads {}", config.width, config.heads));
  }
  embedding_ = layout.no_decay(layout.normal("embedding.weight", config.vocabulary, config.width, 1));
  if (config.smear) {
    const double bound = 1 / std::sqrt(static_cast<double>(config.width));
    smear_gate_ = layout.uniform("smear.gate", config.width, 1, -bound, bound);
    smear_factor_ = layout.constant("smear.factor", 1, 1, 0);
  }
  for (int layer = 0; layer < config.layers; ++layer)
    blocks_.push_back(make_block(config, encoding, layer, layout));
  if (config.pre_norm) final_norm_ = add_norm(layout, "final_norm", config.width, config.norm_kind, config.biases);
  if (config.tied_embeddings) {
    if (config.biases) output_.bias = layout.constant("output.bias", 1, config.vocabulary, 0);
  } else {
    output_ = add_dense(layout, "output", config.width, config.vocabulary, config.biases);
  }
  for (const ParameterLayout::Entry& entry : layout.entries()) {
    if (config.biases || entry.initial) continue;
    throw InputError(fmt::format(
        "the encoding reads '{}', which a model without biases does not have; set model.biases to true",
        entry.name));
  }
}

void Transformer::prepare(const Parameters& p, const Sequence& s, StepCache& step, Gradients* gradients) const {
  if (step.shared == nullptr && !step.packed) pack_weights(p, step, gradients != nullptr);
  if (step.valid && s.positions.is_prefix_of(step.tables_owner().positions)) return;
  finish_tables(p, step, gradients);
  step.uses_shared_tables = step.shared != nullptr && s.positions.is_prefix_of(step.shared->positions);
  if (!step.uses_shared_tables) {
    step.positions = s.positions;
    encoding_.tables(p, step.positions, step.tables);
  }
  if (gradients != nullptr) {
    resize_like(step.tables_owner().tables.values, step.d_tables);
    set_zero(step.d_tables);
  }
  step.valid = true;
}

void Transformer::finish(const Parameters& p, StepCache& step, Gradients* gradients) const {
  finish_tables(p, step, gradients);
  step.packed = false;
}

void Transformer::pack_weights(const Parameters& p, StepCache& step, bool backward) const {
  step.blocks.resize(blocks_.size());
  for (size_t layer = 0; layer < blocks_.size(); ++layer) blocks_[layer]->pack(p, backward, step.blocks[layer]);
  // Tied embeddings are packed both ways: logits are products with their transpose.
  const bool tied = config_.tied_embeddings;
  step.output.fill(p[tied ? embedding_ : output_.weight], backward || tied);
  step.packed = true;
}

void Transformer::finish_tables(const Parameters& p, StepCache& step, Gradients* gradients) const {
  if (step.valid && gradients != nullptr) {
    const StepCache& owner = step.tables_owner();
    encoding_.tables_backward(p, owner.positions, owner.tables, step.d_tables, *gradients);
  }
  step.valid = step.uses_shared_tables = false;
}

std::vector<AttentionMap> Transformer::inspect(const Parameters& p, const Sequence& s, const Tables& tables,
                                               int layer, SequenceWorkspace& a) const {
  const size_t application = a.blocks.size() - blocks_.size() + static_cast<size_t>(layer);
  Matrix positions;  // the summand of the block's input that comes from positions
  if (application == 0) {
    Matrices recurrent_state;
    positions = a.embedded;
    encoding_.embed(s, p, tables, positions, recurrent_state);
    positions -= a.embedded;
    if ((positions.array() == 0).all()) positions.resize(0, 0);
  }
  return block(application).inspect({s, p, tables}, std::move(positions), a.blocks[application], a.workspace);
}

SequenceInput Transformer::input(const Parameters& p, const Sequence& s, const Tables& tables, size_t application,
                                 size_t count) const {
  SequenceInput input{.sequence = s, .parameters = p, .tables = tables};
  if (application + 1 == count && !reads_all_rows()) input.rows = s.target_positions;
  size_t later = application + 1;
  while (later < count && !block(later).has_attention()) ++later;
  input.carries = later < count;
  return input;
}

// x_t += a sigmoid(x_t w) x_(t-1), as in KellerJordan/modded-nanogpt, whose gate reads the first 12 channels.
void Transformer::smear(const Parameters& p, SequenceWorkspace& a) const {
  const Index T = a.x.rows();
  const Real factor = p[smear_factor_](0, 0);
  a.unsmeared = a.x;
  a.smear_gate.resize(T, 1);
  multiply(a.unsmeared, p[smear_gate_], a.smear_gate);
  sigmoid(a.smear_gate, a.smear_gate);
  for (Index t = 1; t < T; ++t) a.x.row(t) += factor * a.smear_gate(t, 0) * a.unsmeared.row(t - 1);
}
// a.d_x becomes the gradient of the token embeddings.
void Transformer::smear_backward(const Parameters& p, SequenceWorkspace& a, Gradients& d) const {
  const Index T = a.d_x.rows();
  const auto w = p[smear_gate_];
  const Real factor = p[smear_factor_](0, 0);
  MatrixView d_w = d[smear_gate_];
  // Row t is complete when it is read: only the row after it adds to it.
  for (Index t = 1; t < T; ++t) {
    const Real gate = a.smear_gate(t, 0), along = dot(a.d_x.row(t), a.unsmeared.row(t - 1));
    d[smear_factor_](0, 0) += gate * along;
    a.d_x.row(t - 1) += factor * gate * a.d_x.row(t);
    const Real d_gate = factor * gate * (1 - gate) * along;
    d_w += d_gate * a.unsmeared.row(t).transpose();
    a.d_x.row(t) += d_gate * w.transpose();
  }
}

void Transformer::embed_tokens(const Parameters& p, const Sequence& s, const Tables& tables,
                               SequenceWorkspace& a) const {
  a.x.resize(static_cast<Index>(s.tokens.size()), config_.width);
  embed(s.tokens, p[embedding_], a.x);
  if (config_.smear) smear(p, a);
  a.embedded = a.x;
  a.recurrent_state.clear();
  encoding_.embed(s, p, tables, a.x, a.recurrent_state);
}

void Transformer::final_logits(const Parameters& p, const StepCache& step, SequenceWorkspace& a) const {
  if (config_.pre_norm) {
    norm(p, final_norm_, a.x, a.final_norm, a.final_input);
  } else {
    a.final_input = a.x;
  }
  output_logits(p, step, a);
}

void Transformer::forward(const Parameters& p, const Sequence& s, const StepCache& step, Rng* rng,
                          SequenceWorkspace& a) const {
  const size_t count = applications(s.loops);
  const Tables& tables = step.tables_owner().tables;
  const std::vector<BlockWeights>& weights = step.weights().blocks;
  a.blocks.resize(count);
  embed_tokens(p, s, tables, a);
  if (drops(s)) dropout(config_.dropout, *rng, a.embedding_mask, a.x);

  for (size_t n = 0; n < count; ++n) {
    const SequenceInput in = input(p, s, tables, n, count);
    block(n).forward({in, weights[n % blocks_.size()], a.blocks[n], a.workspace}, rng, a.x, a.recurrent_state);
  }
  if (reads_all_rows()) select_rows(s.target_positions, a.workspace.rows, a.x);
  final_logits(p, step, a);
}

void TokenCache::drop(Index tokens) {
  for (Matrix& rows : inputs) drop_rows(tokens, rows);
  for (Matrices& of_block : states) {
    for (Matrix& rows : of_block) drop_rows(tokens, rows);
  }
}

void Transformer::decode(const Parameters& p, const Sequence& s, const StepCache& step, TokenCache& cache,
                         SequenceWorkspace& a) const {
  const size_t count = applications(s.loops);
  const Tables& tables = step.tables_owner().tables;
  const std::vector<BlockWeights>& weights = step.weights().blocks;
  const int last[] = {static_cast<int>(s.tokens.size()) - 1};
  a.blocks.resize(count);
  cache.inputs.resize(count);
  cache.states.resize(count);
  embed_tokens(p, s, tables, a);
  for (size_t n = 0; n < count; ++n) {
    append_last_row(a.x, cache.inputs[n]);
    cache.states[n].resize(a.recurrent_state.size());
    for (size_t m = 0; m < a.recurrent_state.size(); ++m)
      append_last_row(a.recurrent_state[m], cache.states[n][m]);
    a.x = cache.inputs[n];
    a.recurrent_state = cache.states[n];
    // A block computes the recurrent state for the next one only if all its rows are read.
    SequenceInput in = input(p, s, tables, n, count);
    in.rows.reset();
    if ((a.recurrent_state.empty() || n + 1 == count) && !reads_all_rows()) in.rows = last;
    block(n).forward({in, weights[n % blocks_.size()], a.blocks[n], a.workspace}, nullptr, a.x, a.recurrent_state);
  }
  if (reads_all_rows()) select_rows(last, a.workspace.rows, a.x);
  final_logits(p, step, a);
}

void Transformer::backward(const Parameters& p, const Sequence& s, StepCache& step, SequenceWorkspace& a,
                           const Matrix& d_logits, Gradients& d) const {
  output_backward(step, a, d_logits, d);
  if (config_.pre_norm) {
    a.d_x.resize(a.d_final_input.rows(), config_.width);
    a.d_x.setZero();
    norm_backward(p, final_norm_, a.final_norm, a.d_final_input, a.d_x, d);
  } else {
    a.d_x = a.d_final_input;
  }
  if (reads_all_rows())
    select_rows_backward(s.target_positions, static_cast<Index>(s.tokens.size()), a.workspace.rows, a.d_x);

  resize_like(a.recurrent_state, a.d_recurrent_state);
  set_zero(a.d_recurrent_state);
  const size_t count = applications(s.loops);
  const Tables& tables = step.tables_owner().tables;
  const std::vector<BlockWeights>& weights = step.weights().blocks;
  for (size_t n = count; n-- > 0;) {
    const SequenceInput in = input(p, s, tables, n, count);
    LayerGradient d_layer{d, step.d_tables, a.d_recurrent_state};
    block(n).backward({in, weights[n % blocks_.size()], a.blocks[n], a.workspace}, a.d_x, d_layer);
  }

  if (drops(s)) a.d_x.array() *= a.embedding_mask.array();
  encoding_.embed_backward(s, p, tables, a.embedded, a.d_recurrent_state, a.d_x, step.d_tables, d);
  if (config_.smear) smear_backward(p, a, d);
  embed_backward(s.tokens, a.d_x, d[embedding_]);
}

void Transformer::output_logits(const Parameters& p, const StepCache& step, SequenceWorkspace& a) const {
  a.logits.resize(a.final_input.rows(), config_.vocabulary);
  const MatrixOperand& weights = step.weights().output;
  if (!config_.tied_embeddings) {
    linear(a.final_input, weights, p[output_.bias], a.logits);
  } else if (config_.biases) {
    multiply_plus_row(p[output_.bias], a.final_input, weights.transpose(), a.logits, tied_scale(config_));
  } else {
    multiply(a.final_input, weights.transpose(), a.logits, tied_scale(config_));
  }
}

void Transformer::output_backward(const StepCache& step, SequenceWorkspace& a, const Matrix& d_logits,
                                  Gradients& d) const {
  a.d_final_input.resize(d_logits.rows(), config_.width);
  const MatrixOperand& weights = step.weights().output;
  if (config_.tied_embeddings) {
    multiply(d_logits, weights, a.d_final_input, tied_scale(config_));
    multiply_add(d_logits.transpose(), a.final_input, d[embedding_], tied_scale(config_));
    if (config_.biases) kernels().add_column_sums(rows(d_logits), d[output_.bias].data());
  } else {
    linear_backward(a.final_input, weights, d_logits, a.d_final_input, d[output_.weight], d[output_.bias],
                    Accumulate::no);
  }
}

double Transformer::multiply_adds(Index length, Index targets, int loops) const {
  double sum = static_cast<double>(targets) * config_.width * config_.vocabulary;
  const size_t count = applications(loops);
  if (config_.smear) sum += 2 * static_cast<double>(length) * config_.width;
  for (size_t n = 0; n < count; ++n)
    sum += block(n).multiply_adds(length, n + 1 == count && !reads_all_rows() ? targets : length);
  return sum;
}

}  // namespace posbench::inline POSBENCH_REAL
