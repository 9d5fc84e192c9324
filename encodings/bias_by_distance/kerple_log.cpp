// KERPLE, logarithmic kernel: a penalty that grows with the logarithm of distance.
#include <cmath>

#include "encodings/aliases.h"
#include "encodings/parts/kerple.h"
#include "encodings/registry.h"

namespace posbench::kerple_log {
namespace {

const EncodingInfo kInfo = kerple_info(EncodingInfo{
    .name = "kerple_log",
    .equation = "score_h(i, j) = q_i . k_j / sqrt(D) - r1_h log(1 + r2_h |i - j|),   r1, r2 >= 0.01",
    .notes = "r1 starts uniform over (0, 2), r2 over (0, 1).",
});

class KerpleLog final : public Kerple {
 public:
  KerpleLog(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Kerple(kInfo.name, options, {2, INFINITY}, {1, INFINITY}, config, layout) {}

  Value kernel(Real r1, Real r2, Real distance) const override {
    const Real logarithm = static_cast<Real>(std::log1p(static_cast<double>(r2 * distance)));
    return {-r1 * logarithm, -logarithm, -r1 * distance / (1 + r2 * distance)};
  }
};

const RegisterEncoding<KerpleLog> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"kerple"}};

}  // namespace
}  // namespace posbench::kerple_log
