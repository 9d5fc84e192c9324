// Defines the settings of a model, and the configuration that a model is built from.
#pragma once
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "base/options.h"
#include "base/real.h"
#include "base/spec.h"

namespace posbench::inline POSBENCH_REAL {

/// Layer normalization (Ba et al. 2016, arXiv:1607.06450), or RMSNorm (Zhang and Sennrich 2019, arXiv:1910.07467).
enum class NormKind { layer_norm, rms_norm };
const EnumNames<NormKind>& names_of(NormKind);
/// Linear, GELU or ReLU, linear; or SwiGLU (Shazeer 2020, arXiv:2002.05202): linear(silu(gate) * up).
enum class Activation { gelu, relu, swiglu };
const EnumNames<Activation>& names_of(Activation);
/// The factor of the scores of a query that sees n keys, in addition to 1 / sqrt(D): 1; log n / log N, if the last
/// query of the trained length sees N keys (Su 2021, kexue.fm 8823); or the larger of the two (QwenLM/Qwen).
enum class LogitScale { constant, log_length, log_length_beyond };
const EnumNames<LogitScale>& names_of(LogitScale);

/// Returns the names of ModelOptions::causal: "causal" and "bidirectional".
const EnumNames<bool>& attention_names();

/// The kinds of the blocks of a model (model/block.h), layer by layer. After its end the list begins again.
struct BlockPattern {
  /// Parses specs of kinds, separated by commas.
  BlockPattern(const std::string& text);

  const Spec& at(int layer) const { return kinds[static_cast<size_t>(layer) % kinds.size()]; }
  std::string text() const;

  std::vector<Spec> kinds;
};

/// The places of a block at which each token adds a causal convolution of 4 taps, channel by channel, to its
/// features: y_t = x_t + the sum of w_n x_(t-n) over n < 4 (Canon layers, Allen-Zhu 2025, arXiv:2512.17351).
struct ConvolutionPlaces {
  bool attention = false;     // a: the input of the attention or of the recurrent layer
  bool heads = false;         // b: queries, keys and values, before anything else acts on them
  bool feed_forward = false;  // c: the input of the feed-forward layer
  bool inner = false;         // d: the features inside the feed-forward layer, before the activation function

  bool in_feed_forward() const { return feed_forward || inner; }
};

struct ModelConfig;

/// The settings of a model that a user gives. `describe` states their names, ranges and meanings.
struct ModelOptions {
  int layers = 2;
  int width = 64;        // C
  int heads = 4;         // H
  int feed_forward = 0;  // inner width; 0: 4 C, of SwiGLU 8/3 C
  bool causal = true;
  bool pre_norm = true;
  Activation activation = Activation::gelu;
  double dropout = 0;  // of the embeddings and of each block's two sublayer outputs, in training only
  bool tied_embeddings = false;
  BlockPattern block{"sequential"};
  NormKind norm_kind = NormKind::layer_norm;
  bool biases = true;    // of linear layers and layer normalizations
  bool qk_norm = false;  // RMSNorm of the queries and keys of every head
  LogitScale logit_scale = LogitScale::constant;
  int window = 0;   // a query sees the keys less than this many tokens away; 0: all
  int segment = 0;  // tokens of a segment; a query sees its segment and the one before; 0: all
  int chunk = 0;    // tokens of a chunk; a query sees its chunk; 0: all
  /// With a window, segments or chunks: number of first tokens that every query sees, up to itself if causal.
  int sinks = 0;
  int temperature = 0;       // L of the factor 1 + 0.1 log(1 + floor((i + 1) / L)) of the scores of query i; 0: 1
  int loops = 1;             // passes through the layers
  bool begin_token = false;  // of every sequence; the task has it (harness/training/begin_token.h)
  ConvolutionPlaces convolution;
  /// Fraction of the components of each head, the last ones, that a key has from the token before it.
  double key_offset = 0;
  bool smear = false;  // x_t += a sigmoid(x_t w) x_(t-1) on the token embeddings, with learned a and w

  void describe(OptionTable&);
  /// Throws InputError if options exclude each other.
  ModelConfig config() const;

  bool hides_keys() const { return window > 0 || segment > 0 || chunk > 0; }
  /// Return the properties of the kind of block of a layer.
  bool has_attention(int layer) const;
  bool has_feed_forward(int layer) const;
  /// Returns whether any layer has a feed-forward layer.
  bool has_feed_forward() const;
  /// Returns whether no layer has attention.
  bool is_recurrent() const;
  /// Returns the number of layers with attention before this one.
  int attention_index(int layer) const;
  /// Returns the layer of the attention with this index.
  int layer_of_attention(int index) const;
  int inner_width() const {
    if (feed_forward > 0) return feed_forward;
    constexpr int kMultiple = 8;
    return activation == Activation::swiglu ? (8 * width / 3 + kMultiple - 1) / kMultiple * kMultiple : 4 * width;
  }
};

/// The settings that the parameters of model and encoding depend on: those of the user, and those of the task.
struct ModelConfig : ModelOptions {
  int vocabulary = 0;
  int trained_length = 0;  // expected T of the longest training sequence; more in wrappers that choose positions
  int trained_tokens = 0;  // expected T of the longest training sequence; 0: trained_length
  int longest = 0;         // expected T of the longest sequence of any split
  int coordinates = 0;     // number of coordinates of each position; 0: none
  int model_heads = 0;     // heads of the model, if `heads` are those that an encoding serves; 0: `heads`

  int tokens_in_training() const { return trained_tokens > 0 ? trained_tokens : trained_length; }
  int head_width() const { return width / (model_heads > 0 ? model_heads : heads); }  // D

  /// Returns the configuration that an encoding is built from: its layers are those with attention.
  ModelConfig for_encoding() const;
};

}  // namespace posbench::inline POSBENCH_REAL
