// KERPLE, power kernel: a penalty that grows with a power of distance.
#include <cmath>

#include "encodings/aliases.h"
#include "encodings/parts/kerple.h"
#include "encodings/registry.h"

namespace posbench::kerple_power {
namespace {

const EncodingInfo kInfo = kerple_info(EncodingInfo{
    .name = "kerple_power",
    .equation = "score_h(i, j) = q_i . k_j / sqrt(D) - r1_h |i - j|^r2_h,   r1 >= 0.01,   0.01 <= r2 <= 2",
    .notes = "r1 starts uniform over (0, 1), r2 over (0, 2). ALiBi is r2 = 1 with fixed r1.",
});

class KerplePower final : public Kerple {
 public:
  KerplePower(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Kerple(kInfo.name, options, {1, INFINITY}, {2, 2}, config, layout) {}

  Value kernel(Real r1, Real r2, Real distance) const override {
    if (distance == 0) return {0, 0, 0};  // the limit of d^r2 log(d)
    const Real power = std::pow(distance, r2);
    return {-r1 * power, -power, -r1 * power * std::log(distance)};
  }
};

const RegisterEncoding<KerplePower> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"kerple"}};

}  // namespace
}  // namespace posbench::kerple_power
