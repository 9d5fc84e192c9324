// Adds a term of the projected sinusoid of the distance to the content term, each with its own query bias.
#include "encodings/aliases.h"
#include "encodings/parts/relative_sinusoids.h"
#include "encodings/registry.h"

namespace posbench::txl {
namespace {

const EncodingInfo kInfo{
    .name = "txl",
    .family = Family::relative_vectors,
    .equation =
        "score_h(i, j) = ((q_i + u_h) . k_j + (q_i + w_h) . (W S(i - j))_h) / sqrt(D)\n"
        "S(n) = [sin(n w_0), ..., sin(n w_(C/2-1)), cos(n w_0), ..., cos(n w_(C/2-1))],   "
        "w_m = 10000^(-2m / C)\n"
        "u, w (H, D) learned, one pair for all layers;   W (C, C) learned for each layer, without bias",
    .source = "Dai et al. 2019, arXiv:1901.02860, section 3.3; kimiyoung/transformer-xl",
    .used_in = {"Transformer-XL"},
    .notes =
        "All parameters start at N(0, 0.02). The paper's v is w here. The code drops out entries of S and "
        "has no biases in the projections of q, k and v. Bidirectional models use the same formula: the "
        "sine of a negative distance changes sign, so that left and right differ. Option clamp then clips "
        "both signs, as XLNet does; the length-generalization study clips distances at 1000. The memory of "
        "the previous segment is the setting model.segment.",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "query",
    .kernel = Kernel::score_modifier,
    .variants = {"clamp=4", "untied=true"},
};

class TransformerXl final : public RelativeSinusoids {
 public:
  struct Options {
    int clamp = 0;
    bool untied = false;
    void describe(OptionTable& o) {
      o.integer("clamp", clamp, 0, 1 << 20,
                "largest distance, to which others are clipped before the sinusoid; 0: none");
      o.flag("untied", untied, "separate u and w for each layer");
    }
  };

  TransformerXl(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : RelativeSinusoids({.name = "txl", .untied = options.untied, .clamp = options.clamp}, config, layout) {}
};

const RegisterEncoding<TransformerXl> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"xl", "transformer_xl", "relative"}};

}  // namespace
}  // namespace posbench::txl
