// DAPE, data-adaptive position encoding: the network over scores and biases, for both versions.
#pragma once
#include <string>

#include "base/options.h"
#include "encodings/parts/additive_bias.h"
#include "encodings/parts/decorator.h"

namespace posbench {

enum class Combine { concatenate, add, multiply };

struct DapeOptions {
  std::string base = "alibi";
  int hidden = 32;
  Combine combine = Combine::concatenate;
  bool residual = true;
  void describe(OptionTable&);
  std::string wrapped() const { return base; }
};

/// score_h(i, j) = A_h + B_h + f_h(all heads' A and B at this pair, or at it and its neighbours along the keys)
///
/// A: q k^T / sqrt(D), or the scores of a rotary base. B: the biases of the base, if it has any. f: a linear map from
/// `channels` to `hidden`, LeakyReLU, a linear map to H; each is a convolution along the keys, `taps` (1 or 3) wide. Inputs are zero beyond
/// the keys that a query sees; hidden values are zero only beyond the sequence.
class Dape : public Decorator {
 public:
  /// Adds NAME.LAYER.in.weight (hidden, taps channels), .in.bias, .out.weight (taps H, hidden) and .out.bias.
  /// Throws std::invalid_argument where the base is neither a bias nor rotary nor `none`, or where options are set that
  /// do nothing without a bias.
  Dape(const std::string& name, Index taps, const DapeOptions&, const ModelShape&, ParameterLayout&);

  void score(const AttentionInput&, Heads& scores) const override;
  void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const override;
  std::vector<AttentionMap> inspect(const AttentionInput&) const override;

 private:
  struct Network;

  void content(const AttentionInput&, Heads& scores) const;  // A

  DapeOptions options_;
  const AdditiveBias* bias_;  // the inner encoding; null where it is no bias
  Index taps_, channels_;     // channels: 2 H where concatenated, else H
  std::vector<Parameter> in_weights_, in_biases_, out_weights_, out_biases_;  // one for each layer
};

}  // namespace posbench
