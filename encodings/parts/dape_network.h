// The network over scores and biases that both versions of DAPE share.
#pragma once
#include <string>
#include <vector>

#include "base/options.h"
#include "encodings/parts/additive_bias.h"
#include "encodings/parts/decorator.h"
#include "encodings/registry.h"

namespace posbench::inline POSBENCH_REAL {

enum class Combine { concatenate, add, multiply };

/// score_h(i, j) = A_h + B_h + f_h(all heads' A and B at this pair, or at it and its neighbors along the keys)
///
/// A: q k^T / sqrt(D), or the scores of a rotary base. B: the biases of the base, if it has any. f: a linear
/// map from `channels` to `hidden`, LeakyReLU, a linear map to H. Each map is a convolution along the keys
/// with 1 or 3 `taps`. Inputs are zero beyond the keys that a query sees; hidden values are zero only beyond
/// the sequence.
class DapeNetwork : public Decorator {
 public:
  struct Options {
    std::string base = "alibi";
    int hidden = 32;
    Combine combine = Combine::concatenate;
    bool residual = true;
    void describe(OptionTable&);
    std::string wrapped() const { return base; }
  };

  /// Adds NAME.LAYER.in.weight (hidden, taps channels), .in.bias, .out.weight (taps H, hidden) and .out.bias.
  /// Throws InputError if the base is neither a bias nor rotary nor `none`, or if options are set that need a bias
  /// and the base has none.
  DapeNetwork(const std::string& name, Index taps, const Options&, const ModelConfig&, ParameterLayout&);

  void score(const AttentionInput&, Heads& scores) const override;
  void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const override;
  void content(const AttentionInput&, Heads& content) const override;
  std::vector<AttentionMap> inspect(const AttentionInput&) const override;

 private:
  struct LayerNetwork;
  struct LayerGradient;

  void adapted_scores(const AttentionInput&, Heads& scores) const;  // A

  Options options_;
  const AdditiveBias* bias_;  // the inner encoding; null if it is no bias
  Index taps_, channels_;     // channels: 2 H if concatenated, else H
  std::vector<Parameter> in_weights_, in_biases_, out_weights_, out_biases_;  // one for each layer
};

/// Adds to a version's name, equation, source and notes the properties, notes and variants that both versions
/// share.
EncodingInfo dape_info(EncodingInfo);

}  // namespace posbench::inline POSBENCH_REAL
