// Shaw's relative keys: a learned vector for each clipped distance, added to the key.
//
//   score_h(i, j) = q_i . (k_j + A[clip(j - i, -K, K)]) / sqrt(D)
//   A (2 K + 1, D), shared by heads, one for each layer
//
// Shaw et al. 2018, arXiv:1803.02155, section 3.2; tensorflow/tensor2tensor. The paper's larger form adds vectors
// to the values as well: shaw_kv. Where causal, only the rows up to K are used. CoPE's baseline `rel` is clip=0 (a
// vector for every trained distance) with shared_table=true.
#include "encodings/registry.h"
#include "encodings/parts/relative_keys.h"

namespace posbench {
namespace {

class ShawK final : public PositionEncoding {
 public:
  struct Options {
    int clip = 16;
    bool shared_table = false;
    void describe(OptionTable& o) {
      o.integer("clip", clip, 0, 1 << 20, "K: distances beyond it share one vector; 0: the trained length - 1");
      o.flag("shared_table", shared_table, "one table for all layers");
    }
  };

  ShawK(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : PositionEncoding(shape),
        keys_("shaw_k", options.clip > 0 ? options.clip : std::max(1, shape.trained_length - 1),
              options.shared_table, shape, layout) {}

  void tables(const Parameters&, const Positions& positions, Tables& tables) const override {
    keys_.rows(positions, tables);
  }
  void score(const AttentionInput& in, Heads& scores) const override {
    PositionEncoding::score(in, scores);
    keys_.add(in, scores);
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    PositionEncoding::score_backward(in, d_scores, d);
    keys_.add_backward(in, d_scores, d);
  }

 private:
  RelativeKeys keys_;
};

const RegisterEncoding<ShawK> registered{{
    .name = "shaw_k",
    .family = Family::relative_vectors,
    .equation = "score(i, j) = q_i . (k_j + A[clip(j - i, -K, K)]) / sqrt(D)",
    .source = "Shaw et al. 2018, arXiv:1803.02155, section 3.2; tensorflow/tensor2tensor",
    .notes = "The released code leaves the initial values to its framework; ours are N(0, D^-0.5).",
    .touches = "Q",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "query",
    .distinct = Distinct::partly,
    .variants = {"clip=0,shared_table=true", "clip=2"},
}};

}  // namespace
}  // namespace posbench
