// DAPE, data-adaptive position encoding: a small network maps the scores and the biases of all heads for a
// pair to a term that is added to the scores.
#include "encodings/parts/dape_network.h"
#include "encodings/registry.h"

namespace posbench::dape {
namespace {

const EncodingInfo kInfo = dape_info(EncodingInfo{
    .name = "dape",
    .equation = "score_h(i, j) = A_h + B_h + f_h([A; B]),   f: 2 H -> 32 -> H with LeakyReLU of 0.01 between\n"
                "A_h = q_i . k_j / sqrt(D),   B_h = the bias of the base (alibi, kerple_log, fire) for head h",
    .source = "Zheng et al. 2024, arXiv:2405.14722; chuanyang-Zheng/DAPE",
    .notes =
        "The model does not start at A + B: the network of each layer starts in the framework's initial "
        "values, U(-1, 1) / sqrt(inputs). At the start, attention in a head with a small slope may fall or rise "
        "with the biases of steeper heads. Causal in the paper; a bidirectional model takes any base that is "
        "defined there.",
    .relative = Relative::yes,
    .variants = {"base=(alibi:learned=true)"},
});

class Dape final : public DapeNetwork {
 public:
  Dape(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : DapeNetwork(kInfo.name, /*taps=*/1, options, config, layout) {}
};

const RegisterEncoding<Dape> registered{kInfo};

}  // namespace
}  // namespace posbench::dape
