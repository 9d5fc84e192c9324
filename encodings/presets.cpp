#include "encodings/presets.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "encodings/registry.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

const std::string kDepth =
    "A model with fewer layers than the period has fewer of the more frequent kind, and one of each in 2 layers. ";

/// In alphabetical order.
const std::vector<Preset> kPresets{
    {.name = "command_a",
     .spec = "layers:of=(rope,none),every=4,shorten=true,window=(0.25x,0)",
     .model = "Command A, Command R7B",
     .source = "huggingface/transformers, models/cohere2/modular_cohere2.py; arXiv:2504.00698",
     .pattern =
         "Three layers have RoPE and a window of 4096 tokens. Each fourth layer has no positions and sees all "
         "keys.",
     .scaling =
         kDepth +
         "The window is a quarter of the trained length. RoPE has base 10000, the default of the code; that of "
         "the published weights was not checked."},
    {.name = "deepseek_v4",
     .spec = "sink_logit:base=(rope_partial:fraction=0.125,base=160000,values=rotated)",
     .model = "DeepSeek V4",
     .source = "huggingface/transformers, models/deepseek_v4/configuration_deepseek_v4.py and "
               "modeling_deepseek_v4.py",
     .pattern =
         "Every head has a learned logit in its softmax. RoPE with base 160000 turns an eighth of each query and key, "
         "and of the values, which are the keys; the output is turned back.",
     .scaling =
         "All layers see all keys. A query of DeepSeek V4 sees the last 128 tokens and summaries of 4 or 128 tokens, "
         "which this spec leaves out. Heads share one key there and have their own here. With a head width of 16, "
         "the eighth is 1 pair. The first two layers of DeepSeek-V4-Flash see the window alone, with base 10000."},
    {.name = "gemma3",
     .spec = "layers:of=(rope,(rope:base=1000000)),every=6,shorten=true,window=(0.25x,0)",
     .model = "Gemma 3",
     .source =
         "huggingface/transformers, models/gemma3/configuration_gemma3.py and modeling_gemma3.py; arXiv:2503.19786",
     .pattern =
         "Five layers have RoPE with base 10000 and a window. Each sixth layer has RoPE with base 1000000 and "
         "sees all keys.",
     .scaling = kDepth +
                "The window is a quarter of the trained length. Gemma 3 also normalizes queries and keys, which "
                "model.qk_norm=true does."},
    {.name = "gemma4",
     .spec = "layers:of=(rope,(rope_p:fraction=0.25,base=1000000)),every=6,shorten=true,last_layer=last,"
             "window=(0.25x,0)",
     .model = "Gemma 4",
     .source = "huggingface/transformers, models/gemma4/configuration_gemma4.py and modeling_rope_utils.py "
               "(proportional)",
     .pattern = "Five layers have RoPE with base 10000 and a window of 512 tokens. Each sixth layer sees all keys "
                "and turns the fastest quarter of the pairs, with base 1000000. The last layer sees all keys.",
     .scaling =
         kDepth +
         "The window is a quarter of the trained length. Heads have the same width in all layers, and "
         "each has its own keys and values. With a head width of 16, the quarter is 2 pairs. Gemma 4 also "
         "normalizes queries, keys and values, the values without a gain, and multiplies scores by 1 in place "
         "of 1 / sqrt(D); model.qk_norm=true normalizes queries and keys."},
    {.name = "gpt_oss",
     .spec = "sink_logit:base=(layers:of=((interpolated:base=(rope:base=150000),method=yarn,truncate=false),"
             "(interpolated:base=(rope:base=150000),method=yarn,truncate=false)),window=(0.25x,0))",
     .model = "gpt-oss",
     .source = "openai/gpt-oss, gpt_oss/torch/model.py",
     .pattern =
         "Every head has a learned logit in its softmax. Layers 0, 2, 4, ... see a window of 128 tokens, and "
         "the others all keys. All have RoPE with base 150000 and YaRN from 4096 to 131072 tokens.",
     .scaling =
         "The window is a quarter of the trained length. YaRN extends the trained length to the longest of any "
         "split."},
    {.name = "granite_swa",
     .spec = "sink_logit:base=(layers:of=(rope,rope),every=4,fill=last,shorten=true,window=(0,0.25x))",
     .model = "Granite SWA",
     .source = "huggingface/transformers, models/granite_swa/configuration_granite_swa.py and "
               "modeling_granite_swa.py",
     .pattern =
         "Every fourth layer, from layer 0 on, sees all keys, and the others a window of 128 tokens. Every head has "
         "a learned logit in its softmax. All layers have RoPE unless layer_rope_theta is 0 for a layer.",
     .scaling = kDepth + "The window is a quarter of the trained length. All layers have RoPE with base 10000."},
    {.name = "llama4",
     .spec = "layers:of=((rope:base=500000),none),every=4,shorten=true,chunk=(0.5x,0),temperature=(0,0.5x)",
     .model = "Llama 4",
     .source = "huggingface/transformers, models/llama4/configuration_llama4.py and modeling_llama4.py",
     .pattern = "Three layers have RoPE with base 500000 and see chunks of 8192 tokens. Each fourth layer has no "
                "positions, sees all keys and multiplies the scores of query i by 1 + 0.1 log(1 + floor((i + 1) / "
                "8192)).",
     .scaling =
         kDepth +
         "Chunks and the length of the temperature are half of the trained length. Llama 4 normalizes "
         "queries and keys after RoPE, without a gain, in the layers that have RoPE; model.qk_norm=true does so "
         "before it, and in the layers without positions too."},
    {.name = "smollm3",
     .spec = "layers:of=((rope:base=2000000),none),every=4,shorten=true",
     .model = "SmolLM3",
     .source = "huggingface/transformers, models/smollm3/configuration_smollm3.py",
     .pattern =
         "Three layers have RoPE with base 2000000, and each fourth layer has no positions. All see all keys.",
     .scaling = kDepth + "Nothing depends on the length."},
    {.name = "swan",
     .spec = "layers:of=(none,rope),every=4,fill=last,shorten=true,window=(0,0.25x),"
             "logit_scale=(log_length_beyond,constant)",
     .model = "SWAN-GPT",
     .source = "Puvvada et al. 2025, arXiv:2504.08719 (abstract)",
     .pattern = "Layers without positions that see all keys alternate with layers that have RoPE and a window. In "
                "tests, the scores of the former grow with the logarithm of the length.",
     .scaling =
         kDepth +
         "The window is a quarter of the trained length. The abstract does not state the order, the ratio of 1 "
         "to 3 and the factor of the scores; here the factor is max(1, log n / log L) of a query that sees n keys."},
};

/// The entry of a preset: that of its spec, under its own name.
EncodingEntry entry_of(const Preset& preset) {
  const std::string text = preset.spec;
  const auto spec = [text] { return Spec::parse(text); };
  const auto entry = [spec]() -> const EncodingEntry& { return encodings().find(spec().name); };
  EncodingInfo info;
  info.name = preset.name;
  info.family = Family::preset;
  info.equation = preset.spec;
  info.source = preset.source;
  info.used_in = {preset.model};
  info.notes = preset.pattern + " " + preset.scaling;
  info.extrapolates = Extrapolation::as_base;
  info.relative = Relative::as_base;
  info.content_dependent = "as its base";
  info.distinct = Distinct::as_base;
  info.distance_decay = DistanceDecay::as_base;
  info.min_layers = 2;
  return {.info = std::move(info),
          .options = {},
          .canonical = [](const Spec& given) { return make_canonical<NoOptions>(given, "encoding"); },
          .wrapped = [spec](const Spec&) { return spec(); },
          .members = [spec](const Spec&) { return std::vector<Spec>{spec()}; },
          .replaces = [spec, entry](const Spec&) { return entry().replaces(spec()); },
          .chooses_positions = [spec, entry](const Spec&) { return entry().chooses_positions(spec()); },
          .make = [spec](const Spec&, const ModelConfig& config,
                         ParameterLayout& layout) { return make_encoding(spec(), config, layout); }};
}

/// Registers the presets.
struct RegisterPresets {
  RegisterPresets() {
    register_or_exit([] {
      for (const Preset& preset : presets()) encodings().add(preset.name, entry_of(preset));
    });
  }
};
const RegisterPresets registered;

}  // namespace

const std::vector<Preset>& presets() { return kPresets; }

const Preset* find_preset(const std::string& name) {
  const auto found = std::ranges::find(presets(), name, &Preset::name);
  return found == presets().end() ? nullptr : &*found;
}

std::map<std::string, std::string> presets_in(const Spec& spec) {
  if (const Preset* preset = find_preset(spec.name)) return {{preset->name, preset->spec}};
  std::map<std::string, std::string> found;
  for (const Spec& member : encodings().find(spec.name).members(spec)) found.merge(presets_in(member));
  return found;
}

}  // namespace posbench::inline POSBENCH_REAL
