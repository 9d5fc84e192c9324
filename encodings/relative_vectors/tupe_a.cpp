// Adds scores of positions with positions, which have their own projections, to the scores of content.
#include "encodings/parts/tupe.h"
#include "encodings/registry.h"

namespace posbench::tupe_a {
namespace {

const EncodingInfo kInfo{
    .name = "tupe_a",
    .family = Family::relative_vectors,
    .equation =
        "score_h(i, j) = (q_i . k_j + (U_Q n_i)_h . (U_K n_j)_h) / sqrt(2 D),   "
        "n_t = LayerNorm(P[min(t, N - 1)])\n"
        "with the reset of token 0: n_t = LayerNorm(P[min(t, N - 1) + 1]) for t > 0; the second term is "
        "theta_1 for i = 0, and theta_2 for j = 0 and i > 0\n"
        "P (N, C), U_Q, U_K (C, C) with biases, and the normalization are learned and shared by all layers",
    .source = "Ke et al. 2020, arXiv:2006.15595, section 3; guolinke/TUPE",
    .notes =
        "P and U start at N(0, 0.02). Token 0 is regarded as an encoder's [CLS], which no position "
        "describes (option reset; bidirectional models, as in the paper). Its row of the second term is "
        "theta_1, [CLS] to all and itself, and the rest of its column is theta_2, all to [CLS]. As in the "
        "code, P then has one more row: row 0 gives theta_1 with itself, row 1 gives theta_2 with itself, "
        "and token t reads row t + 1. N is the longest sequence of any split, unless option positions sets "
        "it. Rows beyond the trained length stay untrained. Positions beyond the table read its last row, "
        "which the paper leaves undefined.",
    .learned = true,
    .takes_positions = TakesPositions::whole_positions,
    .extrapolates = Extrapolation::no,
    .relative = Relative::no,
    .content_dependent = "no",
    .kernel = Kernel::score_modifier,
    .variants = {"positions=5", "reset=always", "reset=never"},
};

class TupeA final : public Tupe {
 public:
  using Options = TupeOptions;
  TupeA(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Tupe(kInfo.name, options, config, layout) {}
};

const RegisterEncoding<TupeA> registered{kInfo};

}  // namespace
}  // namespace posbench::tupe_a
