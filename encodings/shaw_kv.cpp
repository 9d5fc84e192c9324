// Shaw's relative keys and values: a learned vector for each clipped distance, added to the key, and another to
// the value.
//
//   score_h(i, j) = q_i . (k_j + A[n]) / sqrt(D)
//   output_h(i)   = sum over j of attention_h(i, j) (v_j + B[n]),   n = clip(j - i, -K, K)
//
// A, B (2 K + 1, D), shared by heads, a pair for each layer. Shaw et al. 2018, arXiv:1803.02155, section 3.2;
// tensorflow/tensor2tensor, which leaves the initial values to its framework: ours are N(0, D^-0.5) for A and N(0,
// 0.02) for B, so that outputs start as plain attention's. Where causal, only the rows up to K are used.
#include "encodings/registry.h"
#include "encodings/parts/relative_keys.h"

namespace posbench {
namespace {

class ShawKv final : public PositionEncoding {
 public:
  struct Options {
    int clip = 16;
    bool shared_table = false;
    void describe(OptionTable& o) {
      o.integer("clip", clip, 0, 1 << 20, "K: distances beyond it share one vector; 0: the trained length - 1");
      o.flag("shared_table", shared_table, "one pair of tables for all layers");
    }
  };

  ShawKv(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : PositionEncoding(shape), keys_("shaw_kv", clip(options), options.shared_table, shape, layout) {
    for (int layer = 0; layer < (options.shared_table ? 1 : shape.layers); ++layer) {
      const std::string name = options.shared_table ? "shaw_kv.values" : fmt::format("shaw_kv.values.{}", layer);
      values_.push_back(layout.no_decay(layout.normal(name, 2 * clip(options) + 1, shape.head_width(), 0.02)));
    }
  }

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

  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const override {
    PositionEncoding::mix(in, attention, output);
    for (size_t h = 0; h < output.size(); ++h) {
      add_row_mixture(attention[h], in.parameters[values(in)], RelativeKeys::pairs(in), shape_.causal, in.scratch,
                      output[h]);
    }
  }
  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const override {
    PositionEncoding::mix_backward(in, attention, d_output, d_attention, d);
    for (size_t h = 0; h < d_output.size(); ++h) {
      add_row_mixture_backward(attention[h], in.parameters[values(in)], RelativeKeys::pairs(in), shape_.causal,
                               d_output[h], in.scratch, d_attention[h], d.parameters[values(in)]);
    }
  }

 private:
  Index clip(const Options& options) const {
    return options.clip > 0 ? options.clip : std::max(1, shape_.trained_length - 1);
  }
  const Parameter& values(const AttentionInput& in) const { return values_[values_.size() == 1 ? 0 : in.layer]; }

  RelativeKeys keys_;              // A
  std::vector<Parameter> values_;  // B (2 K + 1, D), one or one for each layer; shared by heads
};

const RegisterEncoding<ShawKv> registered{{
    .name = "shaw_kv",
    .family = Family::relative_vectors,
    .equation = "score(i, j) = q_i . (k_j + A[n]) / sqrt(D),   output(i) = sum_j attention(i, j) (v_j + B[n]),   "
                "n = clip(j - i, -K, K)",
    .source = "Shaw et al. 2018, arXiv:1803.02155, section 3.2; tensorflow/tensor2tensor",
    .notes = "The released code leaves the initial values to its framework; ours are N(0, D^-0.5) and N(0, 0.02). "
             "K = 16 for the paper's base model is from memory; the code's preset uses 20.",
    .touches = "Q V",
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
