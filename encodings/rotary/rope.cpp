// Rotates queries and keys, pair by pair, by an angle that grows with position.
#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "base/options.h"
#include "encodings/aliases.h"
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"

namespace posbench::rope {
namespace {

const EncodingInfo kInfo{
    .name = "rope",
    .family = Family::rotary,
    .equation =
        "score_h(i, j) = R(p_i) q_i . R(p_j) k_j / sqrt(D),   R(p) rotates pair n by p base^(-2n / D)\n"
        "axial=true: R rotates pair n by c_(n mod A) base^(-2 (n - n mod A) / D),\n"
        "            c_0 .. c_(A-1) the coordinates of the position\n"
        "values=rotated: output_h(i) = sum over j of attention_h(i, j) R(p_i)^T R(p_j) v_j",
    .source =
        "Su et al. 2021, arXiv:2104.09864, section 3.2; ZhuiyiTechnology/roformer, EleutherAI/gpt-neox; axial: Heo et "
        "al. 2024, arXiv:2403.13298, naver-ai/rope-vit; values: huggingface/transformers, models/deepseek_v4",
    .used_in = {"RoFormer", "GPT-J", "GPT-NeoX", "PaLM", "LLaMA", "Mistral", "Falcon", "Qwen", "Gemma", "OLMo"},
    .notes =
        "Scores depend on differences of angles. The pairing is a convention: interleaved as in RoFormer "
        "(the default), or half a head apart as in GPT-NeoX and LLaMA. Both are the same function class; "
        "weights are not interchangeable. axial=true reads the coordinates that a task states, such as the column and "
        "the row of a cell. Each of them rotates every A-th pair. On a task without coordinates it is the same as "
        "without axial. In rope-vit the base is 100, and each coordinate rotates neighboring pairs, which is the same "
        "function class. values=rotated is that of DeepSeek-V4, whose keys are its values: a head also reads how far away "
        "a value is. `interpolated` over this encoding rotates values by its slower angles.",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"pairing=half_split", "axial=true", "values=rotated"},
};

class Rope final : public WithValues<RopeVariant> {
 public:
  struct Options : RopeOptions {
    bool axial = false;
    RotaryValues values = RotaryValues::plain;
    bool chooses_positions() const { return axial; }
    bool replaces_mix() const { return values == RotaryValues::rotated; }
    void describe(OptionTable& o) {
      RopeOptions::describe(o);
      o.flag("axial", axial, "rotation of a part of the pairs by each coordinate that the task states");
      describe_values(o, values);
    }
  };

  Rope(const Options& options, const ModelConfig& config, ParameterLayout&)
      : WithValues(options.values, config, options, kInfo.name),
        reads_coordinates_(options.axial && config.coordinates > 0),
        axes_(reads_coordinates_ ? config.coordinates : 1) {
    if (2 * axes_ <= config.head_width()) return;
    throw InputError(fmt::format(
        "encoding 'rope': axial=true needs a pair for each of {} coordinates, and a head of width {} has {}; raise the "
        "head width",
        axes_, config.head_width(), config.head_width() / 2));
  }

  Positions positions(const Sequence& s, Rng& rng) const override {
    Positions positions = RopeVariant::positions(s, rng);
    if (reads_coordinates_) positions.coordinates = stated_coordinates(s);
    return positions;
  }
  /// Each group of A neighboring pairs, one for each coordinate, has one frequency.
  Spectrum spectrum() const override {
    Spectrum spectrum = RopeVariant::spectrum();
    std::vector<double>& w = spectrum.frequencies;
    for (size_t n = 0; n < w.size(); ++n) w[n] = w[n - n % static_cast<size_t>(axes_)];
    return spectrum;
  }

 private:
  bool reads_coordinates_;
  int axes_;  // A, or 1 if it reads no coordinates
};

const RegisterEncoding<Rope> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"rotary", "roformer"}};

}  // namespace
}  // namespace posbench::rope
