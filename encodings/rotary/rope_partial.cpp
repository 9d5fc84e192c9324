// Rotates only the first components of every head. The others carry no position.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "encodings/parts/require_use.h"
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"

namespace posbench::rope_partial {
namespace {

const EncodingInfo kInfo{
    .name = "rope_partial",
    .family = Family::rotary,
    .equation =
        "score_h(i, j) = R(p_i) q_i . R(p_j) k_j / sqrt(D),   "
        "R(p) rotates pair n < R / 2 by p base^(-2n / R)\n"
        "R = 2 floor(fraction D / 2), at least 2, or option width\n"
        "values=rotated: output_h(i) = sum over j of attention_h(i, j) R(p_i)^T R(p_j) v_j",
    .source =
        "Wang and Komatsuzaki 2021 (GPT-J); Black et al. 2022, arXiv:2204.06745; EleutherAI/gpt-neox; values: "
        "huggingface/transformers, models/deepseek_v4",
    .notes =
        "The frequencies are those of a head of width R: the whole spectrum on fewer pairs. The default, a "
        "quarter of a head, is that of GPT-NeoX. The `rope` of Kazemnejad et al. 2023, arXiv:2305.19466, "
        "is this encoding.",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"pairing=half_split", "width=4", "pairing=half_split,values=rotated"},
};

class RopePartial final : public WithValues<Rotary> {
 public:
  struct Options : RopeOptions {
    double fraction = 0.25;
    int width = 0;
    RotaryValues values = RotaryValues::plain;
    bool replaces_mix() const { return values == RotaryValues::rotated; }
    void describe(OptionTable& o) {
      o.number("fraction", fraction, 0.001, 1,
               "fraction of each head's components that is rotated; at least one pair");
      o.integer("width", width, 0, 1 << 16, "rotated components, an even number; 0: given by `fraction`");
      RopeOptions::describe(o);
      describe_values(o, values);
    }
  };

  RopePartial(const Options& options, const ModelConfig& config, ParameterLayout&)
      : WithValues(options.values, config, options.pairing, kInfo.name),
        base_(options.base),
        rotated_(options.width) {
    require_use("rope_partial", "fraction", options.fraction, Options{}.fraction, options.width == 0, "width");
    if (rotated_ == 0)
      rotated_ = std::max<Index>(2, 2 * static_cast<Index>(options.fraction * config.head_width() / 2));
    if (rotated_ % 2 != 0 || rotated_ > config.head_width()) {
      throw InputError(
          fmt::format("encoding 'rope_partial': width is {}, expected an even number up to the head width, {}",
                      rotated_, config.head_width()));
    }
  }

  Spectrum spectrum() const override { return {rope_frequencies(rotated_, base_), rotated_, base_}; }

 private:
  double base_;
  Index rotated_;  // R
};

const RegisterEncoding<RopePartial> registered{kInfo};

}  // namespace
}  // namespace posbench::rope_partial
