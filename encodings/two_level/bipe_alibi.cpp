// Adds a learned vector for the position in the segment, and penalizes distances between segments.
#include "encodings/parts/bilevel.h"
#include "encodings/registry.h"

namespace posbench::bipe_alibi {
namespace {

const EncodingInfo kInfo{
    .name = "bipe_alibi",
    .family = Family::two_level,
    .equation =
        "x_t += P[min(intra(t), rows - 1)],   P learned, one table for the whole model\n"
        "score_h(i, j) = q_i . k_j / sqrt(D) - factor m_h (inter(i) - inter(j)),   m_h the slopes of ALiBi",
    .source = "He et al. 2024, arXiv:2401.16421, section 4; zhenyuhe00/BiPE",
    .notes =
        "intra(t) is the number of tokens before token t in its segment, and inter(t) the number of "
        "segments before it. Segments come from the task; in the paper a full stop or a newline ends a "
        "segment and belongs to it. The factor 96 is the code's; segments of its text may have as many "
        "tokens. Bidirectional models count segments alike in both directions. P starts with deviation "
        "C^-0.5. Segments longer than the table share its last row; segments longer than the trained ones "
        "read untrained rows.",
    .learned = true,
    .extrapolates = {Extrapolation::yes, "with segments no longer than in training"},
    .relative = Relative::between_segments,
    .content_dependent = "separators",
    .distance_decay = DistanceDecay::yes,
    .kernel = Kernel::bias,
    .variants = {"rows=2,factor=3"},
};

class BipeAlibi final : public Bilevel {
 public:
  struct Options {
    int rows = 1024;
    double factor = 96;
    void describe(OptionTable& o) {
      o.integer("rows", rows, 1, 1 << 20,
                "rows of the table of positions in a segment; later positions share the last row");
      o.number("factor", factor, 0, 1e6, "factor of ALiBi's slopes");
    }
  };

  // Segments whose positions are `factor` apart have ALiBi's penalty times the factor.
  BipeAlibi(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Bilevel(kInfo.name, options.rows, options.factor, Spec{"alibi", {}}, config, layout) {}
};

const RegisterEncoding<BipeAlibi> registered{kInfo};

}  // namespace
}  // namespace posbench::bipe_alibi
