// Rotates queries and keys, pair by pair, by an angle that grows with position.
#include "encodings/aliases.h"
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

const EncodingInfo kInfo{
    .name = "rope",
    .family = Family::rotary,
    .equation = "score_h(i, j) = R(p_i) q_i . R(p_j) k_j / sqrt(D),   R(p) rotates pair n by p base^(-2n / D)",
    .source = "Su et al. 2021, arXiv:2104.09864, section 3.2; ZhuiyiTechnology/roformer, EleutherAI/gpt-neox",
    .used_in = {"RoFormer", "GPT-J", "GPT-NeoX", "PaLM", "LLaMA", "Mistral", "Falcon", "Qwen", "Gemma", "OLMo"},
    .notes =
        "Scores depend on differences of angles. The pairing is a convention: interleaved as in RoFormer "
        "(the default), or half a head apart as in GPT-NeoX and LLaMA. Both are the same function class; "
        "weights are not interchangeable.",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"pairing=half_split"},
};

class Rope final : public RopeVariant {
 public:
  using Options = RopeOptions;
  Rope(const Options& options, const ModelConfig& config, ParameterLayout&)
      : RopeVariant(config, options, kInfo.name) {}
};

const RegisterEncoding<Rope> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"rotary", "roformer"}};

}  // namespace
}  // namespace posbench
