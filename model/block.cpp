#include "model/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/token_convolution.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

std::string name_of(int layer) { return fmt::format("blocks.{}", layer); }

/// Throws InputError if a setting of the model has no meaning for its recurrent blocks.
void check_recurrent(const ModelConfig& config) {
  if (!config.causal) {
    throw InputError(fmt::format(
        "model.block={} is defined for causal models only; set model.attention to causal or leave it out",
        config.block.text()));
  }
  if (!config.is_recurrent()) return;  // other layers have attention
  const auto refuse = [&](const std::string& setting, const std::string& neutral) {
    throw InputError(fmt::format(
        "model.{} acts on attention, which model.block={} does not have; set it to {} or choose another model.block",
        setting, config.block.text(), neutral));
  };
  if (config.qk_norm) refuse("qk_norm=true", "false");
  if (config.logit_scale != LogitScale::constant) refuse("logit_scale", "constant");
  if (config.window > 0) refuse(fmt::format("window={}", config.window), "0");
  if (config.segment > 0) refuse(fmt::format("segment={}", config.segment), "0");
  if (config.chunk > 0) refuse(fmt::format("chunk={}", config.chunk), "0");
  if (config.temperature > 0) refuse(fmt::format("temperature={}", config.temperature), "0");
}

/// Returns the kind of block with this name, or that which has the recurrent layer of this name.
const BlockKind& frame(const Spec& block) {
  const BlockKind& kind = blocks().find(block.name);
  return kind.is_recurrent() ? blocks().find(kind.in_block) : kind;
}

bool is_recurrent_kind(const Spec& block) { return blocks().find(block.name).is_recurrent(); }

}  // namespace

Registry<BlockKind>& blocks() {
  static Registry<BlockKind> registry{"block", nullptr, "posbench show model.block"};
  return registry;
}

bool is_recurrent_block(const std::string& text) {
  return std::ranges::all_of(split_specs(text), [](const std::string& kind) {
    const std::string name = kind.substr(0, kind.find(':'));
    return blocks().contains(name) && blocks().find(name).is_recurrent();
  });
}

void register_block(BlockKind kind) {
  register_or_exit([&] {
    require_field("block", kind.name, "summary", !kind.summary.empty());
    require_field("block", kind.name, "in_block", kind.is_recurrent() != kind.in_block.empty());
    const std::string name = kind.name;
    blocks().add(name, std::move(kind));
  });
}

bool ModelOptions::has_attention(int layer) const { return !is_recurrent_kind(block.at(layer)); }
bool ModelOptions::has_feed_forward(int layer) const { return frame(block.at(layer)).has_feed_forward; }
bool ModelOptions::is_recurrent() const { return std::ranges::all_of(block.kinds, is_recurrent_kind); }

bool ModelOptions::has_feed_forward() const {
  return std::ranges::any_of(block.kinds, [](const Spec& kind) { return frame(kind).has_feed_forward; });
}

int ModelOptions::attention_index(int layer) const {
  int before = 0;
  for (int n = 0; n < layer; ++n) before += has_attention(n);
  return before;
}

int ModelOptions::layer_of_attention(int index) const {
  int layer = 0;
  while (!has_attention(layer) || index-- > 0) ++layer;
  return layer;
}

void require_attention(const ModelConfig& config) {
  if (!config.is_recurrent()) return;
  throw InputError(fmt::format(
      "the model has model.block={}, which has neither scores nor attention weights; choose a model with attention",
      config.block.text()));
}

Block::Block(const ModelConfig& config, const PositionEncoding& encoding, int layer, ParameterLayout& layout)
    : config_(config),
      norm1_(add_norm(layout, name_of(layer) + ".norm1", config.width, config.norm_kind, config.biases)),
      norm2_(frame(config.block.at(layer)).has_second_norm
                 ? add_norm(layout, name_of(layer) + ".norm2", config.width, config.norm_kind, config.biases)
                 : NormParameters{}) {
  const Spec& spec = config.block.at(layer);
  const BlockKind& kind = blocks().find(spec.name);
  if (config.convolution.attention)
    convolution_ = add_residual_convolution(layout, name_of(layer) + ".convolution", config.width);
  if (kind.is_recurrent()) {
    check_recurrent(config);
    recurrent_ = kind.make_recurrent(spec, config, fmt::format("{}.{}", name_of(layer), kind.name), layout);
  } else {
    attention_.emplace(config, encoding, config.attention_index(layer), name_of(layer) + ".attention", layout);
  }
  if (config.has_feed_forward(layer)) feed_forward_.emplace(config, name_of(layer) + ".feed_forward", layout);
}

void Block::pack(const Parameters& p, bool backward, BlockWeights& weights) const {
  if (attention_) attention_->pack(p, backward, weights.attention);
  if (recurrent_) recurrent_->pack(p, backward, weights.recurrent);
  if (feed_forward_) feed_forward_->pack(p, backward, weights.feed_forward);
}

void Block::mix_tokens(const BlockContext& c, Matrix& result) const {
  if (attention_) return attention_->forward(c.attention(), result);
  recurrent_->forward(c.recurrent(), result);
  select_rows(c.input.rows, c.workspace.rows, result);
}

void Block::mix_tokens_backward(const BlockContext& c, Matrix& d_result, LayerGradient& d) const {
  if (attention_) return attention_->backward(c.attention(), d_result, d);
  Matrix& d_input = c.workspace.attention.d_input;
  d_input.resize(c.activations.attention.input.rows(), config_.width);
  select_rows_backward(c.input.rows, d_input.rows(), c.workspace.rows, d_result);
  recurrent_->backward(c.recurrent(), d_result, d_input, d.parameters);
}

void Block::forward(const BlockContext& c, Rng* rng, Matrix& x, Matrices& recurrent_state) const {
  BlockActivations& a = c.activations;
  Matrix& contribution = c.workspace.contribution;
  a.attention.recurrent_state = recurrent_state;
  if (config_.pre_norm) {
    norm(c.input.parameters, norm1_, x, a.norm1, a.attention.input);
  } else {
    a.attention.input = x;
  }
  if (convolution_) residual_convolution(c.input.parameters[*convolution_], a.attention.input, a.unmixed);
  mix_tokens(c, contribution);
  if (drops(c)) dropout(config_.dropout, *rng, a.attention_mask, contribution);
  select_rows(c.input.rows, c.workspace.rows, x);
  x += contribution;
  after_attention(c, rng, x);
  if (attention_) attention_->carry(c.attention(), a.feed_forward.output, recurrent_state);
}

void Block::backward(const BlockContext& c, Matrix& d_x, LayerGradient& d) const {
  BlockActivations& a = c.activations;
  Matrix &d_contribution = c.workspace.d_contribution, &d_input = c.workspace.attention.d_input;
  if (attention_) attention_->start_backward(c.attention());
  after_attention_backward(c, d_x, d);
  d_contribution = d_x;
  if (drops(c)) d_contribution.array() *= a.attention_mask.array();
  mix_tokens_backward(c, d_contribution, d);
  attention_input_backward(c);
  if (convolution_) {
    residual_convolution_backward(c.input.parameters[*convolution_], a.unmixed, d_input, c.workspace.d_mixed,
                                  d.parameters[*convolution_]);
  }
  select_rows_backward(c.input.rows, d_input.rows(), c.workspace.rows, d_x);
  if (config_.pre_norm) {
    norm_backward(c.input.parameters, norm1_, a.norm1, d_input, d_x, d.parameters);
  } else {
    d_x += d_input;
  }
}

void Block::carry_backward(const BlockContext& c, const Matrix& feed_forward, Matrix& d_feed_forward,
                           LayerGradient& d) const {
  if (attention_) attention_->carry_backward(c.attention(), feed_forward, d_feed_forward, d);
}

void Block::add_feed_forward(const BlockContext& c, Rng* rng, Matrix& x) const {
  BlockActivations& a = c.activations;
  feed_forward_->forward({c.input.parameters, c.weights.feed_forward}, a.feed_forward);
  if (drops(c)) dropout(config_.dropout, *rng, a.feed_forward_mask, a.feed_forward.output);
  x += a.feed_forward.output;
}

void Block::add_feed_forward_backward(const BlockContext& c, const Matrix& d_x, LayerGradient& d) const {
  BlockActivations& a = c.activations;
  Matrix& d_output = c.workspace.d_contribution;
  d_output = d_x;
  carry_backward(c, a.feed_forward.output, d_output, d);
  if (drops(c)) d_output.array() *= a.feed_forward_mask.array();
  feed_forward_->backward({c.input.parameters, c.weights.feed_forward}, a.feed_forward, d_output,
                          c.workspace.feed_forward, c.workspace.d_branch, d.parameters);
}

void Block::post_norm(const BlockContext& c, const NormParameters& parameters, NormActivations& a,
                      Matrix& x) const {
  if (config_.pre_norm) return;
  norm(c.input.parameters, parameters, x, a, c.workspace.contribution);
  x = c.workspace.contribution;
}

void Block::post_norm_backward(const BlockContext& c, const NormParameters& parameters, NormActivations& a,
                               Matrix& d_x, LayerGradient& d) const {
  if (config_.pre_norm) return;
  Matrix& d_input = c.workspace.d_branch;
  d_input.resize(d_x.rows(), d_x.cols());
  d_input.setZero();
  norm_backward(c.input.parameters, parameters, a, d_x, d_input, d.parameters);
  d_x = d_input;
}

double Block::multiply_adds(Index length, Index rows) const {
  const double convolution = convolution_ ? static_cast<double>(length * kConvolutionTaps) * config_.width : 0;
  return convolution + (attention_ ? attention_->multiply_adds(length, rows) : recurrent_->multiply_adds(length)) +
         (feed_forward_ ? feed_forward_->multiply_adds(rows) : 0);
}

std::vector<AttentionMap> Block::inspect(const SequenceInput& s, Matrix x_positions, BlockActivations& a,
                                         BlockWorkspace& workspace) const {
  if (!attention_) return {};
  if (config_.pre_norm) norm_summand(s.parameters, norm1_, a.norm1, x_positions);
  if (convolution_ && x_positions.size() > 0)
    residual_convolution(s.parameters[*convolution_], x_positions, workspace.d_mixed);
  return attention_->inspect(s, x_positions, a.attention, workspace.attention);
}

std::unique_ptr<Block> make_block(const ModelConfig& config, const PositionEncoding& encoding, int layer,
                                  ParameterLayout& layout) {
  return frame(config.block.at(layer)).make(config, encoding, layer, layout);
}

void select_rows(std::optional<std::span<const int>> rows, Matrix& workspace, Matrix& x) {
  if (!rows) return;
  workspace.resize(static_cast<Index>(rows->size()), x.cols());
  gather(x, *rows, workspace);
  x = workspace;
}

void select_rows_backward(std::optional<std::span<const int>> rows, Index length, Matrix& workspace, Matrix& d_x) {
  if (!rows) return;
  workspace = d_x;
  d_x.resize(length, workspace.cols());
  d_x.setZero();
  scatter_add(workspace, *rows, d_x);
}

}  // namespace posbench::inline POSBENCH_REAL
