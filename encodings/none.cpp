// No position encoding (NoPE): the causal mask alone tells orders apart.
//
//   score_h(i, j) = q_i . k_j / sqrt(D)
//
// Haviv et al. 2022, arXiv:2203.16634; Kazemnejad et al. 2023, arXiv:2305.19466. Their code drops 1 / sqrt(D),
// which T5's initializer absorbs; we keep it, so that encodings differ only in position.
#include "encodings/registry.h"

namespace posbench {
namespace {

class None final : public PositionEncoding {
 public:
  using Options = NoOptions;
  None(const Options&, const ModelShape& shape, ParameterLayout&) : PositionEncoding(shape) {}
};

const RegisterEncoding<None> registered{{
    .name = "none",
    .family = Family::absolute,
    .equation = "score(i, j) = q_i . k_j / sqrt(D)",
    .source = "Haviv et al. 2022, arXiv:2203.16634; Kazemnejad et al. 2023, arXiv:2305.19466",
    .notes =
        "A bidirectional model without positions cannot tell orders apart; it can be run as a baseline.",
    .permutation_invariant = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::not_applicable,
    .content_dependent = "no",
    .distinct = Distinct::no,
}};

}  // namespace
}  // namespace posbench
