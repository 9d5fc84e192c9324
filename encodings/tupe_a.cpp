// TUPE-A: a score is the sum of a content term and a position term, which have separate projections.
//
//   score_h(i, j) = (q_i . k_j + (U_Q n_i)_h . (U_K n_j)_h) / sqrt(2 D),   n_t = LayerNorm(P[min(t, N - 1)])
//
// P (N, C), U_Q and U_K (C, C) with biases, and the normalization are shared by all layers; P and U start at N(0,
// 0.02). Token 0 is taken for an encoder's [CLS], which no position describes (option reset; bidirectional models,
// as in the paper): its row of the second term is theta_1, [CLS] to all and itself, and the rest of its column
// theta_2, all to [CLS]. As in the code, the thetas are no free numbers: P has a row more, and theta_1 is what row
// 0 gives with itself, theta_2 row 1; token t reads row t + 1. Causal models have no [CLS], and no reset.
//
// Ke et al. 2020, arXiv:2006.15595, section 3; guolinke/TUPE. N = 0 takes the longest sequence of any split: rows
// beyond the trained length stay as they started; positions beyond the table read its last row, which the paper
// leaves undefined.
#include "encodings/registry.h"
#include "encodings/parts/tupe.h"

namespace posbench {
namespace {

class TupeA final : public Tupe {
 public:
  using Options = TupeOptions;
  TupeA(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : Tupe("tupe_a", options, shape, layout) {}
};

const RegisterEncoding<TupeA> registered{{
    .name = "tupe_a",
    .family = Family::relative_vectors,
    .equation = "score_h(i, j) = (q_i . k_j + (U_Q n_i)_h . (U_K n_j)_h) / sqrt(2 D),   n_t = LayerNorm(P[t])",
    .source = "Ke et al. 2020, arXiv:2006.15595, section 3; guolinke/TUPE",
    .notes = "[CLS] reset for token 0 of bidirectional models (option reset), its two thetas tied to rows of P as "
             "in the "
             "code. Rows beyond the trained length stay untrained; positions beyond the table read its last row.",
    .touches = "B",
    .learned = true,
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::no,
    .relative = Relative::no,
    .content_dependent = "no",
    .variants = {"positions=5", "reset=always", "reset=never"},
}};

}  // namespace
}  // namespace posbench
