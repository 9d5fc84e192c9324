// DAPE v2: DAPE with a network that also sees the two neighboring keys, by two convolutions along the keys.
#include "encodings/parts/dape_network.h"
#include "encodings/registry.h"

namespace posbench::dape_v2 {
namespace {

const EncodingInfo kInfo = dape_info(EncodingInfo{
    .name = "dape_v2",
    .equation =
        "score_h(i, j) = A_h + B_h + f_h([A; B]),   A and B as in dape\n"
        "f: convolution 2 H -> 32, LeakyReLU, convolution 32 -> H, of width 3 along the keys, zero padding 1",
    .source = "Zheng et al. 2024, arXiv:2410.04798; chuanyang-Zheng/DAPE",
    .notes =
        "[A; B] is zero for later keys. The hidden map is not masked, as released: no token leaks, but the last "
        "query of a sequence has padding where other queries have the map of the next key, so that its scores "
        "differ from those in a longer sequence.",
    .causal_only = true,
    .relative = Relative::nearly,
});

class DapeV2 final : public DapeNetwork {
 public:
  DapeV2(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : DapeNetwork(kInfo.name, /*taps=*/3, options, config, layout) {}
};

const RegisterEncoding<DapeV2> registered{kInfo};

}  // namespace
}  // namespace posbench::dape_v2
