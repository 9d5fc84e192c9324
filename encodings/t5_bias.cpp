// T5 bias: a learned scalar for each head and each bucket of distance, shared by all layers.
//
//   score_h(i, j) = q_i . k_j / sqrt(D) + B[bucket(i - j), h],   B (N, H), N(0, C^-0.5)
//
// Buckets are exact for small distances and then spread logarithmically up to max_distance: t5_buckets.h.
// Bidirectional models give half of them to keys after the query. With 32 and 128, causal distances from 113 on
// are all in the last bucket, and bucket 16 of the bidirectional ones is never used.
//
// Raffel et al. 2020, arXiv:1910.10683, section 2.1; tensorflow/mesh. T5 itself drops 1 / sqrt(D) and absorbs it
// in its initial values; we keep it, so that encodings differ only in position. The initial values of B are those
// of a common port; the original leaves them to its framework. Buckets that only sequences beyond the trained
// length reach stay as they started.
#include "encodings/parts/distance_bias.h"
#include "encodings/registry.h"
#include "encodings/parts/t5_buckets.h"

namespace posbench {
namespace {

class T5Bias final : public DistanceBias {
 public:
  struct Options {
    int buckets = 32, max_distance = 128;
    void describe(OptionTable& o) {
      o.integer("buckets", buckets, 2, 4096, "N, the number of buckets of distances");
      o.integer("max_distance", max_distance, 2, 1 << 20, "distances from about here on are in the last bucket");
    }
  };

  T5Bias(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : DistanceBias(shape), buckets_{options.buckets, options.max_distance, shape.causal} {
    buckets_.check("t5_bias");
    table_ =
        layout.no_decay(layout.normal("t5_bias.table", options.buckets, shape.heads, 1 / std::sqrt(shape.width)));
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

const RegisterEncoding<T5Bias> registered{{
    .name = "t5_bias",
    .family = Family::bias_by_distance,
    .equation = "score_h(i, j) = q_i . k_j / sqrt(D) + B[bucket(i - j), h],   B (N, H) learned, shared by layers",
    .source = "Raffel et al. 2020, arXiv:1910.10683, section 2.1; tensorflow/mesh",
    .notes = "T5 has no 1 / sqrt(D), which we keep. The initial N(0, C^-0.5) is a port's; the original leaves it "
             "to its framework. Buckets first reached beyond the trained length are untrained: with the published "
             "largest distance, where that length is below 113.",
    .touches = "B",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = {Extrapolation::no, "but yes where max_distance is no more than the trained length"},
    .relative = Relative::yes,
    .content_dependent = "no",
    .distinct = Distinct::partly,
    .variants = {"buckets=8,max_distance=16"},
}};

}  // namespace
}  // namespace posbench
