#include "model/transformer.h"

#include <fmt/format.h>

#include <stdexcept>

namespace posbench {
namespace {

/// The scale of the output layer with tied embeddings.
Real tied_scale(const ModelShape& shape) { return 1 / std::sqrt(static_cast<Real>(shape.width)); }

}  // namespace

Transformer::Transformer(const ModelShape& shape, ParameterLayout& layout, const PositionEncoding& encoding)
    : shape_(shape), encoding_(encoding) {
  if (shape.width % shape.heads != 0) {
    throw std::invalid_argument(fmt::format("width {} is not a multiple of heads {}", shape.width, shape.heads));
  }
  embedding_ = layout.no_decay(layout.normal("embedding.weight", shape.vocabulary, shape.width, 1));
  for (int layer = 0; layer < shape.layers; ++layer) blocks_.push_back(make_block(shape, encoding, layer, layout));
  if (shape.pre_norm) final_norm_ = add_norm(layout, "final_norm", shape.width, shape.norm_kind, shape.biases);
  if (shape.tied_embeddings) {
    if (shape.biases) output_.bias = layout.constant("output.bias", 1, shape.vocabulary, 0);
  } else {
    output_ = add_dense(layout, "output", shape.width, shape.vocabulary, shape.biases);
  }
  for (const ParameterLayout::Entry& entry : layout.entries()) {
    if (shape.biases || entry.initial) continue;
    throw std::invalid_argument(fmt::format(
        "the encoding reads '{}', which a model without biases does not have; set model.biases to true",
        entry.name));
  }
}

void Transformer::prepare(const Parameters& p, const Sequence& s, StepTables& step, Gradients* gradients) const {
  if (!step.packed) pack_weights(p, step, gradients != nullptr);
  if (step.valid && s.positions.begin(step.positions)) return;
  finish_tables(p, step, gradients);
  step.positions = s.positions;
  encoding_.tables(p, step.positions, step.tables);
  if (gradients != nullptr) {
    resize_like(step.tables.values, step.d_tables);
    set_zero(step.d_tables);
  }
  step.valid = true;
}

void Transformer::finish(const Parameters& p, StepTables& step, Gradients* gradients) const {
  finish_tables(p, step, gradients);
  step.packed = false;
}

void Transformer::pack_weights(const Parameters& p, StepTables& step, bool backward) const {
  step.blocks.resize(blocks_.size());
  for (size_t layer = 0; layer < blocks_.size(); ++layer) blocks_[layer]->pack(p, backward, step.blocks[layer]);
  if (!shape_.tied_embeddings) step.output.fill(p[output_.weight], backward);
  step.packed = true;
}

void Transformer::finish_tables(const Parameters& p, StepTables& step, Gradients* gradients) const {
  if (step.valid && gradients != nullptr) {
    encoding_.tables_backward(p, step.positions, step.tables, step.d_tables, *gradients);
  }
  step.valid = false;
}

std::vector<AttentionMap> Transformer::inspect(const Parameters& p, const Sequence& s, const Tables& tables,
                                               int layer, Activations& a) const {
  const size_t application = a.blocks.size() - blocks_.size() + static_cast<size_t>(layer);
  return block(application).inspect({s, p, tables}, a.blocks[application], a.workspace);
}

void Transformer::forward(const Parameters& p, const Sequence& s, const StepTables& step, Rng* rng,
                          Activations& a) const {
  const size_t count = applications(s.loops);
  a.blocks.resize(count);
  a.x.resize(static_cast<Index>(s.tokens.size()), shape_.width);
  embed(s.tokens, p[embedding_], a.x);
  a.embedded = a.x;
  a.recurrent_state.clear();
  encoding_.embed(s, p, step.tables, a.x, a.recurrent_state);
  if (drops(s)) dropout(shape_.dropout, *rng, a.embedding_mask, a.x);

  for (size_t n = 0; n < count; ++n) {
    const std::vector<int>* rows = n + 1 == count ? &s.target_positions : nullptr;
    block(n).forward({s, p, step.tables}, step.blocks[n % blocks_.size()], rows, rng, a.blocks[n], a.workspace,
                     a.x, a.recurrent_state);
  }

  if (shape_.pre_norm) {
    norm(p, final_norm_, a.x, a.final_norm, a.final_input);
  } else {
    a.final_input = a.x;
  }
  output_logits(p, step, a);
}

void Transformer::backward(const Parameters& p, const Sequence& s, StepTables& step, Activations& a,
                           const Matrix& d_logits, Gradients& d) const {
  output_backward(p, step, a, d_logits, d);
  if (shape_.pre_norm) {
    a.d_x.resize(a.d_final_input.rows(), shape_.width);
    a.d_x.setZero();
    norm_backward(p, final_norm_, a.final_norm, a.d_final_input, a.d_x, d);
  } else {
    a.d_x = a.d_final_input;
  }

  resize_like(a.recurrent_state, a.d_recurrent_state);
  set_zero(a.d_recurrent_state);
  const size_t count = applications(s.loops);
  for (size_t n = count; n-- > 0;) {
    const std::vector<int>* rows = n + 1 == count ? &s.target_positions : nullptr;
    block(n).backward({s, p, step.tables}, step.blocks[n % blocks_.size()], rows, a.blocks[n], a.workspace, a.d_x,
                      step.d_tables, a.d_recurrent_state, d);
  }

  if (drops(s)) a.d_x.array() *= a.embedding_mask.array();
  encoding_.embed_backward(s, p, step.tables, a.embedded, a.d_recurrent_state, a.d_x, step.d_tables, d);
  embed_backward(s.tokens, a.d_x, d[embedding_]);
}

void Transformer::output_logits(const Parameters& p, const StepTables& step, Activations& a) const {
  a.logits.resize(a.final_input.rows(), shape_.vocabulary);
  if (shape_.tied_embeddings) {
    a.logits.setZero();
    if (shape_.biases) a.logits.rowwise() = p[output_.bias].row(0);
    multiply_add(a.final_input, p[embedding_].transpose(), a.logits, tied_scale(shape_));
  } else {
    linear(a.final_input, step.output, p[output_.bias], a.logits);
  }
}

void Transformer::output_backward(const Parameters& p, const StepTables& step, Activations& a,
                                  const Matrix& d_logits, Gradients& d) const {
  a.d_final_input.resize(d_logits.rows(), shape_.width);
  if (shape_.tied_embeddings) {
    multiply(d_logits, p[embedding_], a.d_final_input, tied_scale(shape_));
    multiply_add(d_logits.transpose(), a.final_input, d[embedding_], tied_scale(shape_));
    if (shape_.biases) kernels().add_column_sums(rows(d_logits), d[output_.bias].data());
  } else {
    first_linear_backward(a.final_input, step.output, d_logits, a.d_final_input, d[output_.weight],
                          d[output_.bias]);
  }
}

double Transformer::multiply_adds(Index length, Index targets, int loops) const {
  double sum = static_cast<double>(targets) * shape_.width * shape_.vocabulary;
  const size_t count = applications(loops);
  for (size_t n = 0; n < count; ++n) sum += block(n).multiply_adds(length, n + 1 == count ? targets : length);
  return sum;
}

}  // namespace posbench
