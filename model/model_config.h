// Defines the configuration that a model is built from: its sizes and the kinds of its layers.
#pragma once
#include "base/real.h"

namespace posbench::inline POSBENCH_REAL {

/// Attention, then feed-forward; both in parallel, from the same input; attention alone; an LSTM layer in place of
/// attention, without feed-forward; or the gated delta rule in place of attention, then feed-forward.
enum class BlockKind { sequential, parallel, attention, lstm, gated_delta };
/// Returns the name that model.block has for it.
const char* to_string(BlockKind);
/// Layer normalization (Ba et al. 2016, arXiv:1607.06450), or RMSNorm (Zhang and Sennrich 2019, arXiv:1910.07467).
enum class NormKind { layer_norm, rms_norm };
/// Linear, GELU or ReLU, linear; or SwiGLU (Shazeer 2020, arXiv:2002.05202): linear(silu(gate) * up).
enum class FeedForwardKind { gelu, relu, swiglu };
/// The factor of the scores of a query that sees n keys, in addition to 1 / sqrt(D): 1; log n / log N, if the last
/// query of the trained length sees N keys (Su 2021, kexue.fm 8823); or the larger of the two (QwenLM/Qwen).
enum class LogitScale { constant, log_length, log_length_beyond };

/// The settings that the parameters of model and encoding depend on.
struct ModelConfig {
  int vocabulary = 0;
  int layers = 2;
  int width = 64;        // C
  int heads = 4;         // H
  int feed_forward = 0;  // inner width; 0: 4 C, of SwiGLU 8/3 C
  bool causal = true;
  bool pre_norm = true;
  FeedForwardKind feed_forward_kind = FeedForwardKind::gelu;
  bool tied_embeddings = false;
  BlockKind block = BlockKind::sequential;
  double dropout = 0;      // of the embeddings and of each block's two sublayer outputs, in training only
  int trained_length = 0;  // expected T of the longest training sequence; more in wrappers that choose positions
  int trained_tokens = 0;  // expected T of the longest training sequence; 0: trained_length
  int longest = 0;         // expected T of the longest sequence of any split
  int coordinates = 0;     // number of coordinates of each position; 0: none

  NormKind norm_kind = NormKind::layer_norm;
  bool biases = true;    // of linear layers and layer normalizations
  bool qk_norm = false;  // RMSNorm of the queries and keys of every head
  LogitScale logit_scale = LogitScale::constant;
  int window = 0;   // a query sees the keys less than this many tokens away; 0: all
  int segment = 0;  // tokens of a segment; a query sees its segment and the one before; 0: all
  int chunk = 0;    // tokens of a chunk; a query sees its chunk; 0: all
  int sinks =
      0;  // with a window, segments or chunks: number of first tokens that every query sees, up to itself if causal
  int temperature = 0;  // L of the factor 1 + 0.1 log(1 + floor((i + 1) / L)) of the scores of query i; 0: 1
  int loops = 1;        // passes through the layers
  int model_heads = 0;  // heads of the model, if `heads` are those that an encoding serves; 0: `heads`

  int tokens_in_training() const { return trained_tokens > 0 ? trained_tokens : trained_length; }
  bool hides_keys() const { return window > 0 || segment > 0 || chunk > 0; }
  bool is_recurrent() const { return block == BlockKind::lstm || block == BlockKind::gated_delta; }
  bool has_feed_forward() const { return block != BlockKind::attention && block != BlockKind::lstm; }
  int head_width() const { return width / (model_heads > 0 ? model_heads : heads); }  // D
  int inner_width() const {
    if (feed_forward > 0) return feed_forward;
    constexpr int kMultiple = 8;
    return feed_forward_kind == FeedForwardKind::swiglu ? (8 * width / 3 + kMultiple - 1) / kMultiple * kMultiple
                                                        : 4 * width;
  }
};

}  // namespace posbench::inline POSBENCH_REAL
