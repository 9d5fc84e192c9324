#include "encodings/parts/forget_gate.h"

#include <fmt/format.h>

#include <string>

#include "encodings/parts/cumsum.h"
#include "model/layers.h"
#include "model/numeric.h"

namespace posbench::inline POSBENCH_REAL {

void add_differences(const In& levels, Real weight, Heads& scores) {
  for (Index h = 0; h < levels.rows(); ++h) {
    const auto level = levels.row(h).array();
    for (Index i = 0; i < levels.cols(); ++i) {
      scores[h].row(i).head(i + 1).array() += weight * (level(i) - level.head(i + 1));
    }
  }
}

void add_differences_backward(Real weight, const Heads& d_scores, Out d_levels) {
  for (Index h = 0; h < d_levels.rows(); ++h) {
    auto d_level = d_levels.row(h);
    for (Index i = 0; i < d_levels.cols(); ++i) {
      const auto row = d_scores[h].row(i).head(i + 1);
      d_level.head(i + 1) -= weight * row;
      d_level(i) += weight * sum(row);
    }
  }
}

ForgetGate::ForgetGate(const std::string& name, Real sign, double initial_bias, const ModelConfig& config,
                       ParameterLayout& layout)
    : sign_(sign) {
  for (int layer = 0; layer < config.layers; ++layer) {
    weights_.push_back(
        layout.normal(fmt::format("{}.gate.{}.weight", name, layer), config.width, config.heads, 0.02));
    biases_.push_back(layout.constant(fmt::format("{}.gate.{}.bias", name, layer), 1, config.heads, initial_bias));
  }
}

void ForgetGate::add(const AttentionInput& in, Real weight, Heads& scores) const {
  const Parameter &w = weights_[in.layer], &b = biases_[in.layer];
  Matrix &logits = in.scratch(in.length(), w.cols), &levels = in.scratch(w.cols, in.length());
  linear(in.x, in.parameters[w], in.parameters[b], logits);
  logits *= -sign_;
  softplus(logits, logits);
  levels = -logits.transpose();
  cumsum_over_columns(levels);
  add_differences(levels, weight, scores);
}

void ForgetGate::add_backward(const AttentionInput& in, Real weight, const Heads& d_scores,
                              AttentionGradient& d) const {
  const Parameter &w = weights_[in.layer], &b = biases_[in.layer];
  Matrix &logits = in.scratch(in.length(), w.cols), &d_levels = in.scratch(w.cols, in.length());
  d_levels.setZero();
  add_differences_backward(weight, d_scores, d_levels);
  cumsum_over_columns_backward(d_levels);
  linear(in.x, in.parameters[w], in.parameters[b], logits);
  // The derivative of log sigmoid(s z) is s sigmoid(-s z).
  logits *= -sign_;
  sigmoid(logits, logits);
  logits.array() *= sign_ * d_levels.transpose().array();
  linear_backward(in.x, in.parameters[w], logits, d.x, d.parameters[w], d.parameters[b]);
}

}  // namespace posbench::inline POSBENCH_REAL
