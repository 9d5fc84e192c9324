// T5 bias: a learned scalar for each head and each bucket of distance, shared by all layers.
#include <cmath>

#include "encodings/aliases.h"
#include "encodings/parts/distance_bias.h"
#include "encodings/parts/t5_buckets.h"
#include "encodings/registry.h"

namespace posbench::t5_bias {
namespace {

const EncodingInfo kInfo{
    .name = "t5_bias",
    .family = Family::bias_by_distance,
    .equation = "score_h(i, j) = q_i . k_j / sqrt(D) + B[bucket(i - j), h],   B (N, H) learned",
    .source = "Raffel et al. 2020, arXiv:1910.10683, section 2.1; tensorflow/mesh",
    .used_in = {"T5", "Flan-T5", "UL2"},
    .notes =
        "Small distances have a bucket each; larger ones share buckets, logarithmically up to max_distance "
        "(parts/t5_buckets.h). Bidirectional models give half of the buckets to keys after the query. T5 omits "
        "1 / sqrt(D) and absorbs it in its initial values; it is kept here, so that encodings differ only in "
        "position. B starts at N(0, C^-0.5), as in a common port; the original leaves this to its framework. "
        "Buckets first reached beyond the trained length are untrained: with the published max_distance, where "
        "that length is below 113.",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = {Extrapolation::no, "but yes where max_distance is no more than the trained length"},
    .relative = Relative::yes,
    .content_dependent = "no",
    .distinct = Distinct::partly,
    .variants = {"buckets=8,max_distance=16"},
};

class T5Bias final : public DistanceBias {
 public:
  struct Options {
    int buckets = 32, max_distance = 128;
    void describe(OptionTable& o) {
      o.integer("buckets", buckets, 2, 4096, "N, the number of buckets");
      o.integer("max_distance", max_distance, 2, 1 << 20,
                "distance from about which all distances share the last bucket");
    }
  };

  T5Bias(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : DistanceBias(config), buckets_{options.buckets, options.max_distance, config.causal} {
    buckets_.check("t5_bias");
    table_ = layout.no_decay(
        layout.normal("t5_bias.table", options.buckets, config.heads, 1 / std::sqrt(config.width)));
  }

  void values(const Parameters& p, const In& distances, Out values) const override {
    for (Index n = 0; n < distances.cols(); ++n) {
      values.col(n) = p[table_].row(buckets_.of(distances(0, n))).transpose();
    }
  }
  bool learned() const override { return true; }
  void values_backward(const Parameters&, const In& distances, const In& d_values, Gradients& d) const override {
    for (Index n = 0; n < distances.cols(); ++n) {
      d[table_].row(buckets_.of(distances(0, n))) += d_values.col(n).transpose();
    }
  }

 private:
  T5Buckets buckets_;
  Parameter table_;  // (N, H)
};

const RegisterEncoding<T5Bias> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"t5", "relative"}};

}  // namespace
}  // namespace posbench::t5_bias
