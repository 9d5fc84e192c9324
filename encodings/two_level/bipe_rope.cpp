// Adds a learned vector for the position in the segment, and rotates queries and keys by the segment's position.
#include <fmt/format.h>

#include "encodings/parts/bilevel.h"
#include "encodings/registry.h"

namespace posbench::bipe_rope {
namespace {

const EncodingInfo kInfo{
    .name = "bipe_rope",
    .family = Family::two_level,
    .equation =
        "x_t += P[min(intra(t), rows - 1)],   P learned, one table for the whole model\n"
        "score_h(i, j) = R(inter(i)) q_i . R(inter(j)) k_j / sqrt(D),   "
        "R(p) rotates pair n by p base^(-2n / D)",
    .source = "He et al. 2024, arXiv:2401.16421, section 4; zhenyuhe00/BiPE",
    .notes =
        "intra(t) is the number of tokens before token t in its segment, and inter(t) the number of "
        "segments before it. Segments come from the task; in the paper a full stop or a newline ends a "
        "segment and belongs to it. If a sequence is one segment, only the added vectors distinguish "
        "positions. P starts with deviation C^-0.5. Segments longer than the table share its last row; "
        "segments longer than the trained ones read untrained rows.",
    .learned = true,
    .extrapolates = {Extrapolation::defined, "with segments no longer than in training"},
    .relative = Relative::between_segments,
    .content_dependent = "separators",
    .variants = {"rows=2,base=10"},
};

class BipeRope final : public Bilevel {
 public:
  struct Options {
    int rows = 1024;
    double base = 10000;
    void describe(OptionTable& o) {
      o.integer("rows", rows, 1, 1 << 20,
                "rows of the table of positions in a segment; later positions share the last row");
      o.number("base", base, 1.001, 1e9,
               "base of the frequencies; the slowest pair turns once in about 2 pi base segments");
    }
  };

  BipeRope(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Bilevel(kInfo.name, options.rows, 1, Spec{"rope", {{"base", fmt::format("{}", options.base)}}}, config,
                layout) {}
};

const RegisterEncoding<BipeRope> registered{kInfo};

}  // namespace
}  // namespace posbench::bipe_rope
