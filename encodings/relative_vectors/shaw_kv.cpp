// Adds a learned vector for the clipped distance to each key, and another to each value.
#include <vector>

#include "encodings/aliases.h"
#include "encodings/parts/relative_keys.h"
#include "encodings/registry.h"

namespace posbench::shaw_kv {
namespace {

const EncodingInfo kInfo{
    .name = "shaw_kv",
    .family = Family::relative_vectors,
    .equation =
        "score_h(i, j) = q_i . (k_j + A[n]) / sqrt(D),   n = clip(j - i, -K, K)\n"
        "output_h(i) = sum over j of attention_h(i, j) (v_j + B[n])\n"
        "A, B (2K + 1, D) learned for each layer, shared by heads",
    .source = "Shaw et al. 2018, arXiv:1803.02155, section 3.2; tensorflow/tensor2tensor",
    .notes =
        "Causal models use only the rows up to K. The released code leaves the initial values to its "
        "framework. Here A starts with deviation D^-0.5 and B with 0.02, so that outputs start as those of "
        "plain attention. K = 16 for the paper's base model is from memory; the code's preset uses 20.",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "query",
    .distinct = Distinct::partly,
    .variants = {"clip=0,shared_table=true", "clip=2"},
};

class ShawKv final : public RelativeKeys {
 public:
  using Options = RelativeKeysOptions;
  ShawKv(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : RelativeKeys(options, kInfo.name, config, layout), values_(add_tables("values", 0.02, layout)) {}

  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const override {
    PositionEncoding::mix(in, attention, output);
    const In values = in.parameters[of_layer(values_, in.layer)];
    for (size_t h = 0; h < output.size(); ++h) add_row_mixture(attention[h], pair_vectors(values, in), output[h]);
  }
  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const override {
    PositionEncoding::mix_backward(in, attention, d_output, d_attention, d);
    const In values = in.parameters[of_layer(values_, in.layer)];
    Out d_values = d.parameters[of_layer(values_, in.layer)];
    for (size_t h = 0; h < d_output.size(); ++h) {
      add_row_mixture_backward(attention[h], pair_vectors(values, in), d_output[h], d_attention[h], d_values);
    }
  }

 private:
  std::vector<Parameter> values_;  // B (2K + 1, D), one, or one for each layer
};

const RegisterEncoding<ShawKv> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"shaw", "relative"}};

}  // namespace
}  // namespace posbench::shaw_kv
