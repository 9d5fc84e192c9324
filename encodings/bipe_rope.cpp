// BiPE with RoPE: the position in the segment is added to the embedding, the segment's position rotates queries
// and keys.
//
//   x_t          += P[min(intra(t), rows - 1)],   P learned, one table for the model
//   score_h(i, j) = R(inter(i)) q_i . R(inter(j)) k_j / sqrt(D),   R(p) rotates pair n by p base^(-2 n / D)
//
// intra(t): the tokens before t in its segment; inter(t): the segments before. Segments come from the task (in the
// paper, a full stop or a newline ends one and belongs to it). He et al. 2024, arXiv:2401.16421, section 4;
// zhenyuhe00/BiPE. P starts like learned_abs here, N(0, C^-0.5). With one segment only the embedded positions
// differ.
#include "encodings/parts/bilevel.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class BipeRope final : public Bilevel {
 public:
  struct Options {
    int rows = 1024;
    double base = 10000;
    void describe(OptionTable& o) {
      o.integer("rows", rows, 1, 1 << 20, "positions in a segment that have a row; later ones share the last");
      o.number("base", base, 1.001, 1e9, "the slowest pair turns once in about 2 pi base segments");
    }
  };

  BipeRope(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : Bilevel("bipe_rope", options.rows, 1, Spec{"rope", {{"base", fmt::format("{}", options.base)}}}, shape,
                layout) {}
};

const RegisterEncoding<BipeRope> registered{{
    .name = "bipe_rope",
    .family = Family::two_level,
    .equation = "x_t += P[intra(t)],   score(i, j) = R(inter(i)) q_i . R(inter(j)) k_j / sqrt(D)",
    .source = "He et al. 2024, arXiv:2401.16421; zhenyuhe00/BiPE",
    .notes = "Segments come from the task. Segments longer than the table share its last row; those longer than "
             "the trained "
             "ones meet untrained rows.",
    .touches = "E R P",
    .learned = true,
    .extrapolates = {Extrapolation::defined, "with segments no longer than in training"},
    .relative = Relative::between_segments,
    .content_dependent = "separators",
    .variants = {"rows=2,base=10"},
}};

}  // namespace
}  // namespace posbench
