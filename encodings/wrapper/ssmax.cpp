// Multiplies scores by the logarithm of the number of keys, so that attention does not flatten in long sequences.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "encodings/parts/require_use.h"
#include "encodings/parts/scaled_scores.h"
#include "encodings/registry.h"
#include "model/seen_keys.h"

namespace posbench::ssmax {
namespace {

const EncodingInfo kInfo{
    .name = "ssmax",
    .family = Family::wrapper,
    .equation =
        "score_h(i, j) = f_h(i) times the base's score,   n_i the number of keys that query i sees\n"
        "factor=learned:          f = s_h log n_i,   s (H) learned for each layer\n"
        "factor=log:              f = log n_i\n"
        "factor=log_ratio:        f = log n_i / log L\n"
        "factor=log_ratio_beyond: f = max(1, log n_i / log L), which changes nothing up to L keys",
    .source =
        "Nakanishi 2025, arXiv:2501.19399; fixed factors: Chiang and Cholak 2022, arXiv:2202.12172; Su "
        "2021, kexue.fm 8823; QwenLM/Qwen",
    .notes =
        "The paper replaces e^(z_j) by n^(s z_j), so that biases are multiplied too. s starts at 1, as in "
        "ArthurSBianchessi/BAM. log is that of Chiang and Cholak, log_ratio that of Su, with the training "
        "length 512 as L, and log_ratio_beyond that of Qwen. A query that sees one key has f = 0, or 1 "
        "with log_ratio_beyond; its attention is 1. In a model with a window or segments, n_i counts the keys in "
        "them and the sinks; keys that only the base hides count too.",
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::no,
    .content_dependent = "as its base",
    .distinct = Distinct::as_base,
    .distance_decay = DistanceDecay::as_base,
    .kernel = Kernel::any,
    .variants = {"base=(alibi:sides=split)", "base=cope", "base=fox", "base=stick_breaking", "base=t5_bias",
                 "factor=log", "factor=log_ratio,length=5", "factor=log_ratio_beyond,length=5"},
};

enum class Factor { learned, log, log_ratio, log_ratio_beyond };

class Ssmax final : public ScaledScores {
 public:
  struct Options {
    std::string base = "rope";
    Factor factor = Factor::learned;
    int length = 0;
    std::string wrapped() const { return base; }
    void describe(OptionTable& o) {
      o.text("base", base, "any encoding", "encoding whose scores are multiplied");
      o.choice("factor", factor, {"learned", "log", "log_ratio", "log_ratio_beyond"},
               "factor of the scores: s log n, log n, log n / log L, or max(1, log n / log L)");
      o.integer("length", length, 0, 1 << 20,
                "L of the factors log_ratio and log_ratio_beyond, 2 or more; 0: the trained length");
    }
  };

  Ssmax(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : ScaledScores(config, make_encoding(Spec::parse(options.base), config, layout)),
        factor_(options.factor),
        length_(std::max(2, options.length > 0 ? options.length : config.tokens_in_training())) {
    const bool has_length = factor_ == Factor::log_ratio || factor_ == Factor::log_ratio_beyond;
    require_use("ssmax", "length", options.length, 0, has_length, "this factor");
    if (options.length == 1)
      throw InputError("encoding 'ssmax': length is 1, whose logarithm is 0; expected 2 or more");
    if (factor_ != Factor::learned) return;
    for (int layer = 0; layer < config.layers; ++layer) {
      scales_.push_back(layout.constant(fmt::format("ssmax.scale.{}", layer), 1, config.heads, 1));
    }
  }

  Matrix& factors(const AttentionInput& in) const override {
    Matrix& factors = in.scratch(in.length(), config_.heads);
    for (Index i = 0; i < in.length(); ++i) {
      const Real log = log_keys(in, i);
      switch (factor_) {
        case Factor::learned:
          factors.row(i) = log * in.parameters[scales_[in.layer]].row(0);
          break;
        case Factor::log:
          factors.row(i).setConstant(log);
          break;
        case Factor::log_ratio:
          factors.row(i).setConstant(log / std::log(length_));
          break;
        case Factor::log_ratio_beyond:
          factors.row(i).setConstant(std::max(Real(1), log / std::log(length_)));
          break;
      }
    }
    return factors;
  }
  void factors_backward(const AttentionInput& in, Matrix& d_factors, AttentionGradient& d) const override {
    if (factor_ != Factor::learned) return;
    auto d_scale = d.parameters[scales_[in.layer]].row(0);
    for (Index i = 0; i < in.length(); ++i) d_scale += log_keys(in, i) * d_factors.row(i);
  }

 private:
  Real log_keys(const AttentionInput& in, Index i) const {
    return std::log(static_cast<Real>(num_keys_in_window(config_, i, in.length())));
  }

  Factor factor_;
  Real length_;                    // L
  std::vector<Parameter> scales_;  // s (1, H), one for each layer if learned
};

const RegisterEncoding<Ssmax> registered{kInfo};

}  // namespace
}  // namespace posbench::ssmax
