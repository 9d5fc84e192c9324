// CABLE, context-aware biases for length extrapolation: a penalty that is the sum of a term for each token from
// key to query.
#include <fmt/format.h>

#include <vector>

#include "encodings/parts/cumsum.h"
#include "encodings/parts/forget_gate.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/layers.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench::cable {
namespace {

const EncodingInfo kInfo{
    .name = "cable",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) - g_i (S_i - S_j),   S_t = sum over s <= t of f_s\n"
        "form=code:             f_s = softplus(w_h . x_s + b_h),   g_i = 1\n"
        "form=paper:            f_s = relu(w_h . x_s),             g_i = softplus(v_h . x_i)\n"
        "form=paper_unweighted: f_s = relu(w_h . x_s),             g_i = 1",
    .source = "Veisi et al. 2025, arXiv:2503.08067, third version; axiomlab/Cable",
    .notes =
        "Paper and code differ; the code's form is the default, and it is FoX with the opposite sign of the "
        "gate's logit. The paper's equation lacks the minus sign that its text and its reduction to ALiBi "
        "require. The released code never divides by sqrt(D): scaled=false. The division is kept here, so that "
        "encodings differ only in position. w and v start at N(0, 0.02), b at 0, as in the code.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::accumulated,
    .content_dependent = "token",
    .distance_decay = DistanceDecay::yes,
    .kernel = Kernel::score_modifier,
    .cached = "H sums of steps",
    .variants = {"form=paper", "form=paper,scaled=false", "form=paper_unweighted", "scaled=false"},
};

enum class Form { code, paper, paper_unweighted };

class Cable final : public PositionEncoding {
 public:
  struct Options {
    Form form = Form::code;
    bool scaled = true;
    void describe(OptionTable& o) {
      o.choice("form", form, {"code", "paper", "paper_unweighted"},
               "steps by softplus; by relu, with or without a weight of the query");
      o.flag("scaled", scaled, "division of q.k by sqrt(D), which the released code omits");
    }
  };

  Cable(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config), options_(options) {
    if (options.form == Form::code) {
      gate_.emplace_back("cable", Real(-1), 0, config, layout);
      return;
    }
    for (int layer = 0; layer < config.layers; ++layer) {
      steps_.push_back(
          layout.normal(fmt::format("cable.step.{}.weight", layer), config.width, config.heads, 0.02));
      if (options.form == Form::paper) {
        weights_.push_back(
            layout.normal(fmt::format("cable.query.{}.weight", layer), config.width, config.heads, 0.02));
      }
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    content(in, scores);
    if (options_.form == Form::code) return gate_[0].add(in, 1, scores);
    const Published f(*this, in);
    for (size_t h = 0; h < scores.size(); ++h) {
      const auto sum = f.sums.row(static_cast<Index>(h)).array();
      for (Index i = 0; i < in.length(); ++i) {
        scores[h].row(i).head(i + 1).array() -= f.weight(i, h) * (sum(i) - sum.head(i + 1));
      }
    }
  }

  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    for (size_t h = 0; h < d_scores.size(); ++h) {
      dot_product_backward(in.q[h], in.k[h], content_scale(), /*causal=*/true, d_scores[h], d.q[h], d.k[h]);
    }
    if (options_.form == Form::code) return gate_[0].add_backward(in, 1, d_scores, d);
    const Index T = in.length(), H = config_.heads;
    const Published f(*this, in);
    Matrix &d_sums = in.scratch(H, T), &d_logits = in.scratch(T, H);
    d_sums.setZero();
    for (Index h = 0; h < H; ++h) {
      const auto sums = f.sums.row(h);
      for (Index i = 0; i < T; ++i) {
        const auto row = d_scores[h].row(i).head(i + 1);
        const Real total = sum(row);
        d_sums.row(h).head(i + 1) += f.weight(i, h) * row;
        d_sums(h, i) -= f.weight(i, h) * total;
        d_logits(i, h) = dot(row, sums.head(i + 1)) - sums(i) * total;  // the gradient of the query weight g_i
      }
    }
    if (!weights_.empty()) {
      sigmoid(f.weight_logits, f.weight_logits);
      d_logits.array() *= f.weight_logits.array();
      logits_backward(weights_[in.layer], in, d_logits, d);
    }
    cumsum_over_columns_backward(d_sums);
    d_logits = (f.step_logits.array() > Real(0)).select(d_sums.transpose().array(), Real(0));
    logits_backward(steps_[in.layer], in, d_logits, d);
  }

  void content(const AttentionInput& in, Heads& content) const override {
    for (size_t h = 0; h < content.size(); ++h)
      dot_product(in.q[h], in.k[h], content_scale(), /*causal=*/true, content[h]);
  }

 private:
  /// The values that the published form computes from x.
  struct Published {
    Published(const Cable& cable, const AttentionInput& in)
        : weighted(!cable.weights_.empty()),
          step_logits(in.scratch(in.length(), cable.config_.heads)),
          weight_logits(in.scratch(in.length(), cable.config_.heads)),
          weights(in.scratch(in.length(), cable.config_.heads)),
          sums(in.scratch(cable.config_.heads, in.length())) {
      multiply(in.x, in.parameters[cable.steps_[in.layer]], step_logits);
      sums = step_logits.transpose().cwiseMax(Real(0));
      cumsum_over_columns(sums);
      if (!weighted) return;
      multiply(in.x, in.parameters[cable.weights_[in.layer]], weight_logits);
      softplus(weight_logits, weights);
    }
    Real weight(Index i, size_t h) const { return weighted ? weights(i, static_cast<Index>(h)) : 1; }

    bool weighted;
    Matrix &step_logits, &weight_logits, &weights;  // (T, H)
    Matrix& sums;                                   // (H, T)
  };

  static void logits_backward(const Parameter& w, const AttentionInput& in, const Matrix& d_logits,
                              AttentionGradient& d) {
    multiply_add(d_logits, in.parameters[w].transpose(), d.x);
    multiply_add(in.x.transpose(), d_logits, d.parameters[w]);
  }
  Real content_scale() const { return options_.scaled ? scale() : 1; }

  Options options_;
  std::vector<ForgetGate> gate_;    // one if form=code
  std::vector<Parameter> steps_;    // (C, H), one for each layer, if form is not code
  std::vector<Parameter> weights_;  // (C, H), one for each layer, if form=paper
};

const RegisterEncoding<Cable> registered{kInfo};

}  // namespace
}  // namespace posbench::cable
