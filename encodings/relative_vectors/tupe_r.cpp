// Adds a learned scalar for each head and each bucket of distance to the scores of TUPE-A.
#include <vector>

#include "encodings/parts/distances.h"
#include "encodings/parts/t5_buckets.h"
#include "encodings/parts/tupe.h"
#include "encodings/registry.h"

namespace posbench::tupe_r {
namespace {

const EncodingInfo kInfo{
    .name = "tupe_r",
    .family = Family::relative_vectors,
    .equation =
        "score_h(i, j) = (q_i . k_j + (U_Q n_i)_h . (U_K n_j)_h) / sqrt(2 D) + B[bucket(i - j), h]\n"
        "n_t, U_Q and U_K as in tupe_a;   B learned, shared by all layers",
    .source = "Ke et al. 2020, arXiv:2006.15595, section 3; guolinke/TUPE",
    .notes =
        "Where token 0 is reset (option reset), its pairs have their own buckets, as in the code: T5's "
        "unused bucket N / 2 for [CLS] to all and itself, and one more, N, for all to [CLS]. Causal "
        "models, which the paper does not treat, use T5's causal buckets, where N / 2 is in use; "
        "reset=always then gives [CLS] to all the bucket N + 1. B starts at N(0, 1) in the code, which "
        "creates it after the rest is initialized with 0.02: option deviation. N = 32 and max_distance = "
        "128 are T5's.",
    .learned = true,
    .takes_positions = TakesPositions::whole_positions,
    .extrapolates = Extrapolation::no,
    .relative = Relative::partly,
    .content_dependent = "no",
    .kernel = Kernel::score_modifier,
    .variants = {"buckets=8,max_distance=16,reset=never", "reset=always"},
};

class TupeR final : public Tupe {
 public:
  struct Options : TupeOptions {
    int buckets = 32, max_distance = 128;
    double deviation = 1;
    void describe(OptionTable& o) {
      TupeOptions::describe(o);
      o.integer("buckets", buckets, 2, 4096, "N, the number of buckets of distances");
      o.integer("max_distance", max_distance, 2, 1 << 20,
                "distance from which on distances are in the last bucket");
      o.number("deviation", deviation, 0, 10, "standard deviation of the initial B");
    }
  };

  TupeR(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Tupe(kInfo.name, options, config, layout), buckets_{options.buckets, options.max_distance, config.causal} {
    buckets_.check("tupe_r");
    const int reset_buckets = !reset() ? 0 : config.causal ? 2 : 1;
    table_ = layout.no_decay(
        layout.normal("tupe_r.table", options.buckets + reset_buckets, config.heads, options.deviation));
  }

  void bias(const Parameters& p, const Positions& positions, Matrices& bias) const override {
    Tupe::bias(p, positions, bias);
    const auto table = p[table_];
    for_each_bucket(positions, [&](Index i, Index j, Index bucket) {
      for (size_t h = 0; h < bias.size(); ++h) bias[h](i, j) += table(bucket, h);
    });
  }
  void bias_backward(const Parameters& p, const Positions& positions, const Matrices& d_bias,
                     Gradients& d) const override {
    Tupe::bias_backward(p, positions, d_bias, d);
    auto d_table = d[table_];
    for_each_bucket(positions, [&](Index i, Index j, Index bucket) {
      for (size_t h = 0; h < d_bias.size(); ++h) d_table(bucket, h) += d_bias[h](i, j);
    });
  }

 private:
  /// Calls f(i, j, bucket) for every pair.
  template <class F>
  void for_each_bucket(const Positions& positions, F f) const {
    const Index others_to_first = buckets_.buckets;
    const Index first_to_others = config_.causal ? buckets_.buckets + 1 : buckets_.buckets / 2;
    Matrix distances;
    IndexMatrix index;
    distinct_distances(positions, config_.causal, distances, index);
    std::vector<Index> buckets;
    for (Index n = 0; n < distances.cols(); ++n) buckets.push_back(buckets_.of(distances(0, n)));
    for_each_pair(positions.size(), [&](Index i, Index j) {
      const bool first = reset() && (i == 0 || j == 0);
      f(i, j, !first ? buckets[static_cast<size_t>(index(i, j))] : i == 0 ? first_to_others : others_to_first);
    });
  }

  T5Buckets buckets_;
  Parameter table_;  // B (N, H), with one or two more rows if token 0 is reset
};

const RegisterEncoding<TupeR> registered{kInfo};

}  // namespace
}  // namespace posbench::tupe_r
