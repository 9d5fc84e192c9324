// BiPE with ALiBi: the position in the segment is added to the embedding, distances between segments are
// penalized.
//
//   x_t          += P[min(intra(t), rows - 1)],   P learned, one table for the model
//   score_h(i, j) = q_i . k_j / sqrt(D) - 96 m_h (inter(i) - inter(j)),   m_h ALiBi's slopes
//
// intra(t): the tokens before t in its segment; inter(t): the segments before. Segments come from the task (in the
// paper, a full stop or a newline ends one and belongs to it). He et al. 2024, arXiv:2401.16421, section 4;
// zhenyuhe00/BiPE, whose code has the factor 96: as many tokens as a segment of its text might have. Bidirectional
// models count segments alike in both directions. P starts like learned_abs here, N(0, C^-0.5).
#include "encodings/parts/bilevel.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class BipeAlibi final : public Bilevel {
 public:
  struct Options {
    int rows = 1024;
    double factor = 96;
    void describe(OptionTable& o) {
      o.integer("rows", rows, 1, 1 << 20, "positions in a segment that have a row; later ones share the last");
      o.number("factor", factor, 0, 1e6, "ALiBi's slopes are multiplied by it");
    }
  };

  // A slope times the factor is the slope over segments that are `factor` apart.
  BipeAlibi(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : Bilevel("bipe_alibi", options.rows, options.factor, Spec{"alibi", {}}, shape, layout) {}
};

const RegisterEncoding<BipeAlibi> registered{{
    .name = "bipe_alibi",
    .family = Family::two_level,
    .equation = "x_t += P[intra(t)],   score(i, j) = q_i . k_j / sqrt(D) - 96 m_h (inter(i) - inter(j))",
    .source = "He et al. 2024, arXiv:2401.16421; zhenyuhe00/BiPE",
    .notes = "Segments come from the task. The factor 96 is the code's. Segments longer than the table share "
             "its last "
             "row; those longer than the trained ones meet untrained rows.",
    .touches = "E B P",
    .learned = true,
    .extrapolates = {Extrapolation::yes, "with segments no longer than in training"},
    .relative = Relative::between_segments,
    .content_dependent = "separators",
    .distance_decay = DistanceDecay::yes,
    .variants = {"rows=2,factor=3"},
}};

}  // namespace
}  // namespace posbench
