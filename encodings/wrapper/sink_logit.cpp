// Adds a learned logit to the softmax of each head, which takes attention from all keys and has no value.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "encodings/parts/decorator.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/kernels.h"

namespace posbench::sink_logit {
namespace {

const EncodingInfo kInfo{
    .name = "sink_logit",
    .family = Family::wrapper,
    .equation =
        "attention_h(i, j) = e^z_h(i, j) / (e^s_h + sum over keys m of e^z_h(i, m)),   z the base's scores\n"
        "s (H) learned for each layer",
    .source =
        "OpenAI 2025, openai/gpt-oss, gpt_oss/torch/model.py, sdpa; huggingface/transformers, granite_swa; Miller "
        "2023, 'Attention Is Off By One' (s = 0)",
    .notes =
        "gpt-oss calls s the sinks. They are not the first tokens that model.sinks keeps. The attention weights of a "
        "head sum to less than 1. s starts at 0, as in granite_swa; gpt-oss publishes trained values only. A factor "
        "of the scores (model.logit_scale, ssmax around it) does not multiply s. It replaces the base's softmax. "
        "A base with another normalization is refused.",
    .learned = true,
    .extrapolates = Extrapolation::as_base,
    .relative = Relative::as_base,
    .content_dependent = "as its base",
    .distinct = Distinct::as_base,
    .distance_decay = DistanceDecay::as_base,
    .variants = {"base=alibi", "base=(local:base=cope,window=3)", "base=shaw_kv"},
};

class SinkLogit final : public Decorator {
 public:
  struct Options {
    std::string base = "rope";
    std::string wrapped() const { return base; }
    void describe(OptionTable& o) {
      o.text("base", base, "an encoding with the softmax", "encoding whose scores are normalized");
    }
  };

  SinkLogit(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Decorator(config, softmax_base(options.base, config, layout)) {
    for (int layer = 0; layer < config.layers; ++layer) {
      logits_.push_back(
          layout.no_decay(layout.constant(fmt::format("sink_logit.logit.{}", layer), 1, config.heads, 0)));
    }
  }

  void normalize(const AttentionInput& in, const Heads& scores, Heads& attention) const override {
    PositionEncoding::normalize(in, scores, attention);
    const Index T = in.length();
    for (size_t h = 0; h < scores.size(); ++h) {
      const double logit = in.parameters[logits_[in.layer]](0, static_cast<Index>(h));
      for (Index i = 0; i < T; ++i) {
        const Index keys = num_visible_keys(i, T, config_.causal);
        const Real *score = scores[h].row(i).data(), *best = std::max_element(score, score + keys);
        Real* weight = attention[h].row(i).data();
        // log of the sum of e^z:   z - log(e^z / sum) of any key, here of the one with the largest score
        const double log_sum = *best - std::log(static_cast<double>(weight[best - score]));
        const auto of_keys = static_cast<Real>(1 / (1 + std::exp(logit - log_sum)));
        for (Index j = 0; j < keys; ++j) weight[j] *= of_keys;
      }
    }
  }
  void normalize_backward(const AttentionInput& in, const Heads& scores, const Heads& attention,
                          const Heads& d_attention, Heads& d_scores, AttentionGradient& d) const override {
    PositionEncoding::normalize_backward(in, scores, attention, d_attention, d_scores, d);
    const Index T = in.length();
    for (size_t h = 0; h < attention.size(); ++h) {
      Real sum = 0;
      for (Index i = 0; i < T; ++i) {
        const Index keys = num_visible_keys(i, T, config_.causal);
        const Real *weight = attention[h].row(i).data(), *d_weight = d_attention[h].row(i).data();
        sum += (1 - kernels().sum(weight, keys)) * kernels().dot(weight, d_weight, keys);
      }
      d.parameters[logits_[in.layer]](0, static_cast<Index>(h)) -= sum;
    }
  }

 private:
  static std::unique_ptr<PositionEncoding> softmax_base(const std::string& base, const ModelConfig& config,
                                                        ParameterLayout& layout) {
    const Spec spec = Spec::parse(base);
    if (!encodings().find(spec.name).replaces(spec).normalize) return make_encoding(spec, config, layout);
    throw InputError(fmt::format(
        "encoding 'sink_logit': base is '{}', which replaces the softmax; expected an encoding with the softmax",
        base));
  }

  std::vector<Parameter> logits_;  // s (1, H), one for each layer
};

const RegisterEncoding<SinkLogit> registered{kInfo};

}  // namespace
}  // namespace posbench::sink_logit
