// Transformer-XL: a content term and a term of a projected sinusoid of the distance, each with its own query bias.
//
//   score_h(i, j) = ((q_i + u_h) . k_j + (q_i + w_h) . (W S(i - j))_h) / sqrt(D)
//   S(n)          = [sin(n w_0), ..., sin(n w_(C/2-1)), cos(n w_0), ..., cos(n w_(C/2-1))],   w_m = 10000^(-2 m /
//   C)
//
// u, w (H, D) one pair for all layers, or untied; W (C, C) for each layer, without bias; all start at N(0, 0.02).
// Dai et al. 2019, arXiv:1901.02860, section 3.3 (its v is our w); kimiyoung/transformer-xl. Bidirectional models
// use the same formula: the sine of a negative distance changes sign, so that left and right differ; option clamp
// then clips both signs, as XLNet does. The code drops out entries of S and has no biases in the projections of q,
// k and v. Its memory of the segment before is the option model.segment.
#include "encodings/registry.h"
#include "encodings/parts/relative_sinusoids.h"

namespace posbench {
namespace {

class TransformerXl final : public RelativeSinusoids {
 public:
  struct Options {
    int clamp = 0;
    bool untied = false;
    void describe(OptionTable& o) {
      o.integer("clamp", clamp, 0, 1 << 20, "distances are clipped to this before the sinusoid; 0: never");
      o.flag("untied", untied, "u and w for each layer");
    }
  };

  TransformerXl(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : RelativeSinusoids({.name = "txl", .untied = options.untied, .clamp = options.clamp}, shape, layout) {}
};

const RegisterEncoding<TransformerXl> registered{{
    .name = "txl",
    .family = Family::relative_vectors,
    .equation =
        "score_h(i, j) = ((q_i + u_h) . k_j + (q_i + w_h) . (W S(i - j))_h) / sqrt(D),   S sines and cosines",
    .source = "Dai et al. 2019, arXiv:1901.02860, section 3.3; kimiyoung/transformer-xl",
    .notes =
        "The paper is causal, with a memory of the segment before (model.segment); bidirectionally the same formula takes negative "
        "distances. The length-generalization study clips distances at 1000: option clamp.",
    .touches = "Q",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "query",
    .variants = {"clamp=4", "untied=true"},
}};

}  // namespace
}  // namespace posbench
