// Applies options of the model that act on scores to one encoding: a window, chunks and scales of some layers
// only.
#include <memory>
#include <string>

#include "encodings/parts/decorator.h"
#include "encodings/parts/score_options.h"
#include "encodings/registry.h"
#include "model/score_adjustment.h"

namespace posbench::local {
namespace {

const EncodingInfo kInfo{
    .name = "local",
    .family = Family::wrapper,
    .equation =
        "score_h(i, j) = t_i f_i times the base's score for the keys that query i sees; it gives all others no "
        "attention\n"
        "window=W: |i - j| < W,   chunk=C: floor(i / C) = floor(j / C),   "
        "segment=S: floor(j / S) is floor(i / S) or the one before,   and the keys j < sinks\n"
        "f_i = 1, log n_i / log n_L (logit_scale=log_length), or max(1, log n_i / log n_L) (log_length_beyond),   "
        "n_i the number of keys that query i sees, and n_L that of the last query of the trained length\n"
        "t_i = 1 + 0.1 log(1 + floor((i + 1) / L)),   L = temperature, or t_i = 1 if it is 0",
    .source =
        "window: Beltagy et al. 2020, arXiv:2004.05150; chunk and temperature: huggingface/transformers, llama4; "
        "logit_scale: Su 2021, kexue.fm 8823; QwenLM/Qwen",
    .notes =
        "These are the options model.window, model.segment, model.chunk, model.sinks, model.logit_scale and "
        "model.temperature for one encoding. With layers they differ from layer to layer: "
        "layers:of=(rope,none),window=(8,0) is short for layers:of=((local:base=rope,window=8),none). A number of "
        "tokens may be a part of the trained length, rounded: the default window is a quarter of it. A hidden key has "
        "a weight of exactly 0, with every normalization. The options of the model act on these scores as on those of "
        "any other encoding. Counts and sums in the base's scores include all keys; only a base ssmax or asentmax "
        "counts the keys of the window. Llama 4 multiplies the "
        "queries by t_i, which multiplies the scores; a bias of the base is multiplied too.",
    .extrapolates = {Extrapolation::yes, "with a window or chunks; else as its base"},
    .relative = Relative::as_base,
    .content_dependent = "as its base",
    .distinct = Distinct::partly,
    .distance_decay = DistanceDecay::as_base,
    .kernel = Kernel::score_modifier,
    .variants = {"window=0,chunk=4", "chunk=0.5x,sinks=1", "base=cope,window=3,temperature=2",
                 "base=stick_breaking,window=0,segment=3",
                 "base=(ssmax:base=alibi),window=4,logit_scale=log_length",
                 "base=shaw_kv,logit_scale=log_length_beyond"},
};

class Local final : public Decorator {
 public:
  struct Options : ScoreOptions {
    std::string base = "rope";
    Options() { window = "0.25x"; }
    std::string wrapped() const { return base; }
    void describe(OptionTable& o) {
      o.text("base", base, "any encoding", "encoding whose scores are scaled and whose keys are hidden");
      ScoreOptions::describe(o);
    }
  };

  Local(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Decorator(config, make_encoding(Spec::parse(options.base), options.apply_to(config, kOwner), layout)),
        adjustment_(options.apply_to(config, kOwner)) {}

  void score(const AttentionInput& in, Heads& scores) const override {
    inner().score(in, scores);
    adjustment_.apply(scores);
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    Heads d_inner(d_scores.size());
    for (size_t h = 0; h < d_scores.size(); ++h) {
      d_inner[h].refer_to(in.scratch(in.length(), in.length()));
      d_inner[h] = d_scores[h];
    }
    adjustment_.apply_backward(d_inner);
    inner().score_backward(in, d_inner, d);
  }
  void content(const AttentionInput& in, Heads& content) const override {
    inner().content(in, content);
    adjustment_.scale(content);
  }

 private:
  static constexpr char kOwner[] = "encoding 'local'";

  ScoreAdjustment adjustment_;
};

const RegisterEncoding<Local> registered{kInfo};

}  // namespace
}  // namespace posbench::local
