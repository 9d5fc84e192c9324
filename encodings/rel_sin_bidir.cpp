// Relative sinusoids of signed distances: Transformer-XL's scores as studies of encoders use them.
//
//   score_h(i, j) = s ((q_i + u_h) . k_j + (q_i + w_h) . (W S(j - i))_h),   s = 1 / sqrt(D)
//
// u, w (H, D) and W (C, C) for each layer; S(n) sines and cosines of n 10000^(-2 m / C), negative n included.
//
// Ruoss et al. 2023, arXiv:2305.16843; google-deepmind/randomized_positional_encodings: as above, all sines first,
// and all that is learned from N(0, 0.02). Csordas et al. 2021, arXiv:2108.12284 and arXiv:2110.07732;
// RobertCsordas/ndr: the same argument with layout=interleaved, start=xavier (u and w zero, W Xavier-uniform) and
// learned_scale=true (a scalar s for each layer, from 1 / sqrt(D) on). argument=query_minus_key is txl's sign: the
// same functions, since W can undo it.
//
// Causal models use the true distances. Ruoss et al.'s causal code does not: it gives a pair S(T - 1 - (i - j)),
// which changes with the length of the sequence; their experiments are
// bidirectional.
#include "encodings/registry.h"
#include "encodings/parts/relative_sinusoids.h"

namespace posbench {
namespace {

enum class Argument { key_minus_query, query_minus_key };
enum class Arrangement { concatenated, interleaved };
enum class Start { normal, xavier };

class RelSinBidir final : public RelativeSinusoids {
 public:
  struct Options {
    Argument argument = Argument::key_minus_query;
    Arrangement layout = Arrangement::concatenated;
    Start start = Start::normal;
    bool learned_scale = false;
    int clamp = 0;
    void describe(OptionTable& o) {
      o.choice("argument", argument, {"key_minus_query", "query_minus_key"}, "what the sinusoids are taken of");
      o.choice("layout", layout, {"concatenated", "interleaved"}, "all sines first, or sine beside cosine");
      o.choice("start", start, {"normal", "xavier"},
               "u, w and W from N(0, 0.02); or zero, zero and Xavier-uniform");
      o.flag("learned_scale", learned_scale,
             "a learned factor for each layer instead of 1 / sqrt(D), from there on");
      o.integer("clamp", clamp, 0, 1 << 20, "distances are clipped to +- this before the sinusoid; 0: never");
    }
  };

  RelSinBidir(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : RelativeSinusoids({.name = "rel_sin_bidir",
                           .untied = true,
                           .key_minus_query = options.argument == Argument::key_minus_query,
                           .interleaved = options.layout == Arrangement::interleaved,
                           .clamp = options.clamp,
                           .xavier = options.start == Start::xavier,
                           .learned_scale = options.learned_scale},
                          shape, layout) {}
};

const RegisterEncoding<RelSinBidir> registered{{
    .name = "rel_sin_bidir",
    .family = Family::relative_vectors,
    .equation =
        "score_h(i, j) = ((q_i + u_h) . k_j + (q_i + w_h) . (W S(j - i))_h) / sqrt(D),   S sines and cosines",
    .source = "Ruoss et al. 2023, arXiv:2305.16843, google-deepmind/randomized_positional_encodings; Csordas et "
              "al. 2021, "
              "arXiv:2108.12284 and arXiv:2110.07732, RobertCsordas/ndr",
    .notes = "The defaults are Ruoss et al.'s; layout=interleaved,start=xavier,learned_scale=true are Csordas et "
             "al.'s. "
             "Causal models see true distances; Ruoss et al.'s causal code depends on the length of the sequence.",
    .touches = "Q",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "query",
    .variants = {"argument=query_minus_key,clamp=4", "layout=interleaved,start=xavier,learned_scale=true"},
}};

}  // namespace
}  // namespace posbench
