// DAPE v2: as DAPE, with a network that also sees the two neighbouring keys: two convolutions along the keys.
//
//   score_h(i, j) = A_h + B_h + f_h([A; B]),   f: convolution 2 H -> 32, LeakyReLU, convolution 32 -> H
//
// Each convolution has width 3 and zero padding 1. Zheng et al. 2024, arXiv:2410.04798; chuanyang-Zheng/DAPE. [A;
// B] is zero for later keys; the hidden map is not masked again, which leaks nothing, since it only saw masked
// inputs: the hidden value one key beyond the query counts, except for the last query of a sequence, where the
// convolution's padding is zero (as released). Options, bases and initial values as in DAPE; the released
// `rope_dapev2` (base=rope) is built for 2 H channels and given H, where it stops; H is used.
#include "encodings/parts/dape_network.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class DapeV2 final : public Dape {
 public:
  using Options = DapeOptions;
  DapeV2(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : Dape("dape_v2", /*taps=*/3, options, shape, layout) {}
};

const RegisterEncoding<DapeV2> registered{{
    .name = "dape_v2",
    .family = Family::contextual,
    .equation = "score_h(i, j) = A_h + B_h + f_h, f two convolutions of width 3 along the keys over [A; B], 2 H "
                "-> 32 -> H with "
                "LeakyReLU",
    .source = "Zheng et al. 2024, arXiv:2410.04798; chuanyang-Zheng/DAPE",
    .notes =
        "The hidden map is not masked, as released: no token leaks, but the last query of a sequence has padding "
        "where others have the map of the next key, so that its scores differ from those in a longer sequence. With "
        "FIRE as the base that code uses LeakyReLU inside FIRE: base=(fire:activation=leaky_relu).",
    .causal_only = true,
    .touches = "B L",
    .learned = true,
    .extrapolates = Extrapolation::as_base,
    .relative = Relative::nearly,
    .content_dependent = "logits",
    .variants = {"base=(alibi:learned=true),combine=add,residual=false",
                 "base=(alibi:learned=true),combine=multiply", "base=fire", "base=(fire:activation=leaky_relu)",
                 "base=(kerple_log:per_layer=true),hidden=5", "base=kerple_log", "base=none", "base=rope", "combine=add",
                 "combine=multiply", "hidden=7,residual=false"},
}};

}  // namespace
}  // namespace posbench
