// SSMax, scalable softmax: scores are multiplied by the logarithm of the number of keys, so that attention does
// not flatten as sequences grow.
//
//   score_h(i, j) = f_h(i) times the base's score,   n_i the number of keys that query i sees
//
//   factor=learned           f = s_h log n_i, s of each layer and head, from 1 on
//   factor=log               f = log n_i
//   factor=log_ratio         f = log n_i / log L
//   factor=log_ratio_beyond  f = max(1, log n_i / log L): nothing changes up to L keys
//
// Nakanishi 2025, arXiv:2501.19399, where n^(s z_j) replaces e^(z_j), so that biases are multiplied too;
// the start of s is that of ArthurSBianchessi/BAM. The fixed forms: log n, Chiang and Cholak 2022,
// arXiv:2202.12172; log n / log L, Su 2021, kexue.fm 8823, with L the training length 512; and its
// maximum with 1, QwenLM/Qwen. A query that sees one key has f = 0, or 1 in the last form: its attention is 1.
#include <cmath>

#include "encodings/parts/scaled_scores.h"
#include "encodings/registry.h"
#include "model/attention.h"

namespace posbench {
namespace {

enum class Factor { learned, log, log_ratio, log_ratio_beyond };

class Ssmax final : public ScaledScores {
 public:
  struct Options {
    std::string base = "rope";
    Factor factor = Factor::learned;
    int length = 0;
    std::string wrapped() const { return base; }
    void describe(OptionTable& o) {
      o.text("base", base, "any encoding", "the encoding whose scores are multiplied");
      o.choice("factor", factor, {"learned", "log", "log_ratio", "log_ratio_beyond"},
               "s log n, log n, log n / log L, or the larger of that and 1");
      o.integer("length", length, 0, 1 << 20, "L; 0: the trained length");
    }
  };

  Ssmax(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : ScaledScores(shape, make_encoding(Spec::parse(options.base), shape, layout)),
        factor_(options.factor),
        length_(std::max(2, options.length > 0 ? options.length : shape.trained_length)) {
    if (factor_ != Factor::learned) return;
    for (int layer = 0; layer < shape.layers; ++layer) {
      scales_.push_back(layout.constant(fmt::format("ssmax.scale.{}", layer), 1, shape.heads, 1));
    }
  }

  Matrix& factors(const AttentionInput& in) const override {
    Matrix& factors = in.scratch(in.length(), shape_.heads);
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
    return std::log(static_cast<Real>(visible(i, in.length(), shape_.causal)));
  }

  Factor factor_;
  Real length_;                    // L
  std::vector<Parameter> scales_;  // s (1, H), one for each layer
};

const RegisterEncoding<Ssmax> registered{{
    .name = "ssmax",
    .family = Family::wrapper,
    .equation = "score_h(i, j) = s_h log(n_i) times the base's score, n_i the number of keys that query i sees",
    .source =
        "Nakanishi 2025, arXiv:2501.19399; fixed factors: Chiang and Cholak 2022, arXiv:2202.12172; Su 2021, "
        "kexue.fm 8823; QwenLM/Qwen",
    .notes = "Biases are multiplied too, because the softmax itself is replaced. s starts at 1, as in "
             "ArthurSBianchessi/BAM.",
    .touches = "L",
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::no,
    .content_dependent = "as its base",
    .distinct = Distinct::as_base,
    .distance_decay = DistanceDecay::as_base,
    .variants = {"base=(alibi:sides=split)", "base=cope", "base=fox", "base=stick_breaking", "base=t5_bias",
                 "factor=log", "factor=log_ratio,length=5", "factor=log_ratio_beyond,length=5"},
}};

}  // namespace
}  // namespace posbench
