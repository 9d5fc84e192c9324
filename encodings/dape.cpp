// DAPE, data-adaptive position encoding: a small network maps the scores and the biases of all heads for a pair to
// a term that is added to the scores.
//
//   A_h = q_i . k_j / sqrt(D),   B_h = the bias of the base (alibi, kerple_log, fire) for head h
//   score_h(i, j) = A_h + B_h + f_h([A; B]),   f: 2 H -> 32 -> H, LeakyReLU of 0.01 between
//
// Zheng et al. 2024, arXiv:2405.14722; chuanyang-Zheng/DAPE. One network for each layer, in the
// framework's initial values, U(-1, 1) / sqrt(inputs): the model does not start at A + B. The paper's ablations:
// `hidden`; f of A + B or of A times B (`combine`); score without the residual B (residual=false); base=none, f(A)
// alone; base=rope, f of the rotated scores, which are then A, as the released rope_dapev2 means it, whose module is
// built for 2 H inputs and given H. The base decides whether layers share its parameters. DAPE's code makes a set for
// each layer:
// base=(kerple_log:per_layer=true), and fire by default; its FIRE uses LeakyReLU,
// base=(fire:activation=leaky_relu). The paper is causal; a bidirectional model takes any base that is defined
// there.
#include "encodings/parts/dape_network.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class DapeV1 final : public Dape {
 public:
  using Options = DapeOptions;
  DapeV1(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : Dape("dape", /*taps=*/1, options, shape, layout) {}
};

const RegisterEncoding<DapeV1> registered{{
    .name = "dape",
    .family = Family::contextual,
    .equation = "score_h(i, j) = A_h + B_h + f_h([A; B]), A = q_i . k_j / sqrt(D) and B = the base's bias of all "
                "heads, f: 2 H "
                "-> 32 -> H with LeakyReLU",
    .source = "Zheng et al. 2024, arXiv:2405.14722; chuanyang-Zheng/DAPE",
    .notes = "The network may reverse a bias: at the start, attention in a head with a small slope may fall or rise "
             "with the biases of steeper heads. With FIRE as the base the released code uses LeakyReLU inside "
             "FIRE: base=(fire:activation=leaky_relu). Causal in the paper; here as its base is.",
    .touches = "B L",
    .learned = true,
    .extrapolates = Extrapolation::as_base,
    .relative = Relative::yes,
    .content_dependent = "logits",
    .variants = {"base=(alibi:learned=true)", "base=(alibi:learned=true),combine=add,residual=false",
                 "base=(alibi:learned=true),combine=multiply", "base=fire", "base=(fire:activation=leaky_relu)",
                 "base=(kerple_log:per_layer=true),hidden=5", "base=kerple_log", "base=none", "base=rope", "combine=add",
                 "combine=multiply", "hidden=7,residual=false"},
}};

}  // namespace
}  // namespace posbench
