// Scores keys by projected sinusoids of signed distances, as studies of encoders use Transformer-XL's scores.
#include "encodings/parts/relative_sinusoids.h"
#include "encodings/registry.h"

namespace posbench::rel_sin_bidir {
namespace {

const EncodingInfo kInfo{
    .name = "rel_sin_bidir",
    .family = Family::relative_vectors,
    .equation =
        "score_h(i, j) = s ((q_i + u_h) . k_j + (q_i + w_h) . (W S(j - i))_h),   s = 1 / sqrt(D)\n"
        "S(n): sines and cosines of n 10000^(-2m / C), also of negative n;   argument=absolute: S(|i - j|)\n"
        "u, w (H, D), W (C, C) learned for each layer",
    .source =
        "Ruoss et al. 2023, arXiv:2305.16843, google-deepmind/randomized_positional_encodings; Csordas et "
        "al. 2021, arXiv:2108.12284 and arXiv:2110.07732, RobertCsordas/ndr",
    .notes =
        "The defaults are those of Ruoss et al.: all sines first, and all parameters start at N(0, 0.02). "
        "Csordas et al. use layout=interleaved,start=xavier,learned_scale=true: u and w start at zero, W is "
        "Xavier-uniform, and each layer learns a scalar s from 1 / sqrt(D). argument=query_minus_key is the sign "
        "of txl; it gives the same functions, because W can undo it. argument=absolute has the same term for "
        "keys at equal distances before and after the query, so a bidirectional model cannot tell them apart by "
        "it. Causal models use the true distances. The causal code of Ruoss et al. gives a pair S(T - 1 - (i - "
        "j)), which changes with the length of the sequence; their experiments are bidirectional.",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "query",
    .kernel = Kernel::score_modifier,
    .variants = {"argument=query_minus_key,clamp=4", "argument=absolute,clamp=5",
                 "layout=interleaved,start=xavier,learned_scale=true"},
};

enum class Arrangement { concatenated, interleaved };
enum class Start { normal, xavier };

class RelSinBidir final : public RelativeSinusoids {
 public:
  struct Options {
    SinusoidArgument argument = SinusoidArgument::key_minus_query;
    Arrangement layout = Arrangement::concatenated;
    Start start = Start::normal;
    bool learned_scale = false;
    int clamp = 0;
    void describe(OptionTable& o) {
      o.choice("argument", argument, {"key_minus_query", "query_minus_key", "absolute"},
               "argument of the sinusoids: j - i, i - j or |i - j|");
      o.choice("layout", layout, {"concatenated", "interleaved"},
               "order of the components: all sines first, or sine next to cosine");
      o.choice("start", start, {"normal", "xavier"}, "initial u, w and W: N(0, 0.02), or 0, 0 and Xavier-uniform");
      o.flag("learned_scale", learned_scale, "a learned s for each layer, initially 1 / sqrt(D)");
      o.integer("clamp", clamp, 0, 1 << 20, "largest absolute distance, to which others are clipped; 0: none");
    }
  };

  RelSinBidir(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : RelativeSinusoids({.name = "rel_sin_bidir",
                           .untied = true,
                           .argument = options.argument,
                           .interleaved = options.layout == Arrangement::interleaved,
                           .clamp = options.clamp,
                           .xavier = options.start == Start::xavier,
                           .learned_scale = options.learned_scale},
                          config, layout) {}
};

const RegisterEncoding<RelSinBidir> registered{kInfo};

}  // namespace
}  // namespace posbench::rel_sin_bidir
