#include "model/model_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "model/block.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// Returns "kind of block. attention: attention alone, ...", with the summary of each registered kind.
std::string block_help() {
  std::vector<std::string> kinds, recurrent;
  for (const std::string& name : blocks().names()) {
    std::vector<std::string> options;
    for (const OptionInfo& option : blocks().find(name).options)
      options.push_back(fmt::format("{} ({}: {})", option.name, option.expected, option.help));
    kinds.push_back(fmt::format("{}: {}{}{}", name, blocks().find(name).summary,
                                options.empty() ? "" : ", with the options ", fmt::join(options, ", ")));
    if (blocks().find(name).is_recurrent()) recurrent.push_back(name);
  }
  return fmt::format(
      "kind of block, or a list of kinds for the layers in turn, which repeats. {}. {} need a causal model, and the encoding none if no layer has attention. model.pattern is another name",
      fmt::join(kinds, "; "), fmt::join(recurrent, " and "));
}

}  // namespace

BlockPattern::BlockPattern(const std::string& text) {
  for (const std::string& kind : split_specs(text)) kinds.push_back(Spec::parse(kind));
}

std::string BlockPattern::text() const {
  std::vector<std::string> texts;
  for (const Spec& kind : kinds) texts.push_back(kind.text());
  return fmt::format("{}", fmt::join(texts, ","));
}

const EnumNames<NormKind>& names_of(NormKind) {
  static const EnumNames<NormKind> names{{NormKind::layer_norm, "layer_norm"}, {NormKind::rms_norm, "rms_norm"}};
  return names;
}

const EnumNames<Activation>& names_of(Activation) {
  static const EnumNames<Activation> names{
      {Activation::gelu, "gelu"}, {Activation::relu, "relu"}, {Activation::swiglu, "swiglu"}};
  return names;
}

const EnumNames<LogitScale>& names_of(LogitScale) {
  static const EnumNames<LogitScale> names{{LogitScale::constant, "constant"},
                                           {LogitScale::log_length, "log_length"},
                                           {LogitScale::log_length_beyond, "log_length_beyond"}};
  return names;
}

const EnumNames<bool>& attention_names() {
  static const EnumNames<bool> names{{true, "causal"}, {false, "bidirectional"}};
  return names;
}

void ModelOptions::describe(OptionTable& o) {
  static const EnumNames<bool> kNorms{{true, "pre"}, {false, "post"}};
  o.integer("layers", layers, 1, 64, "number of blocks of attention and feed-forward layers");
  o.integer("width", width, 1, 8192, "channels of the residual stream; a multiple of the number of heads");
  o.integer("heads", heads, 1, 128, "number of heads of the attention or of the gated delta rule; lstm has none");
  o.integer("feed_forward", feed_forward, 0, 65536, "inner channels of the feed-forward layers; 0: 4 x width");
  o.choice("attention", causal, attention_names(), "tokens that a token sees: itself and earlier ones, or all");
  o.choice("norm", pre_norm, kNorms, "place of the normalization: before each half of a block, or after its sum");
  o.choice(
      "activation", activation, names_of(activation),
      "activation function of the feed-forward layers; gelu is the tanh form; swiglu has a third matrix, and 8/3 x width inner channels by default");
  o.number("dropout", dropout, 0, 0.9,
           "probability of zeroing an entry of the embeddings and of each sublayer's output in training");
  o.flag("tied_embeddings", tied_embeddings, "use of the token embeddings as the output layer");
  o.pattern("block", block.kinds, layers, blocks(), block_help());
  o.also_called("pattern");
  o.omit_default();
  o.choice("norm_kind", norm_kind, names_of(norm_kind),
           "kind of normalization: layer normalization, or RMSNorm, which neither centers nor shifts");
  o.omit_default();
  o.flag("biases", biases, "biases of linear layers and layer normalizations");
  o.omit_default();
  o.flag("qk_norm", qk_norm, "RMSNorm of the queries and keys of every head, before the encoding");
  o.omit_default();
  o.choice(
      "logit_scale", logit_scale, names_of(logit_scale),
      "factor of the scores of a query that sees n keys: 1, log n / log N if the last query of the trained length sees N keys, or the greater of that and 1");
  o.omit_default();
  o.integer("window", window, 0, 1 << 20, "distance in tokens below which a query sees a key; 0: all keys");
  o.omit_default();
  o.integer("segment", segment, 0, 1 << 20,
            "tokens of a segment; a query sees its segment and the one before; 0: all");
  o.omit_default();
  o.integer("chunk", chunk, 0, 1 << 20, "tokens of a chunk; a query sees the keys of its chunk; 0: all");
  o.omit_default();
  o.integer("sinks", sinks, 0, 1 << 20,
            "number of first tokens that all later tokens see, with a window, segments or chunks");
  o.omit_default();
  o.integer("temperature", temperature, 0, 1 << 20,
            "L of the factor 1 + 0.1 log(1 + floor((i + 1) / L)) of the scores of query i; 0: no factor");
  o.omit_default();
  o.integer("loops", loops, 1, 64, "passes of a sequence through the layers, with the same parameters");
  o.omit_default();
  o.flag("begin_token", begin_token,
         "a begin token before every sequence, which has no target and is never predicted");
  o.omit_default();
  o.subset(
      "convolution",
      {{"a", &convolution.attention},
       {"b", &convolution.heads},
       {"c", &convolution.feed_forward},
       {"d", &convolution.inner}},
      "places of causal convolutions of 4 taps with residual (Canon layers): the input of attention, queries, keys and values, the input of the feed-forward layer, and its inside");
  o.omit_default();
  o.number("key_offset", key_offset, 0, 1,
           "fraction of the components of each head, the last ones, that a key has from the token before it");
  o.omit_default();
  o.flag("smear", smear, "addition of the gated embedding of the token before to each token embedding");
  o.omit_default();
}

namespace {

/// Throws InputError if a place of the convolutions is in no layer.
void check_places(const ModelOptions& o) {
  const auto refuse = [&](const std::string& place, const std::string& part) {
    throw InputError(fmt::format("model.convolution has {}, and no layer of model.block={} has {}; leave {} out",
                                 place, o.block.text(), part, place));
  };
  if (o.convolution.heads && o.is_recurrent()) refuse("b", "attention");
  if (o.convolution.in_feed_forward() && !o.has_feed_forward())
    refuse(o.convolution.feed_forward ? "c" : "d", "a feed-forward layer");
  if (o.key_offset > 0 && o.is_recurrent()) {
    throw InputError(
        fmt::format("model.key_offset is {}, and no layer of model.block={} has attention; set it to 0",
                    o.key_offset, o.block.text()));
  }
}

}  // namespace

ModelConfig ModelOptions::config() const {
  if (feed_forward > 0 && !has_feed_forward()) {
    throw InputError(fmt::format(
        "model.feed_forward is {}, and model.block={} has no feed-forward layers; leave out one of them",
        feed_forward, block.text()));
  }
  if (static_cast<int>(block.kinds.size()) > layers) {
    throw InputError(
        fmt::format("model.block={} is a list for {} layers, and model.layers is {}; set it to {} or more",
                    block.text(), block.kinds.size(), layers, block.kinds.size()));
  }
  check_places(*this);
  if (sinks > 0 && !hides_keys()) {
    throw InputError(fmt::format(
        "model.sinks is {}, and model.window, model.segment and model.chunk are 0: all keys are seen; set one of "
        "them or leave out model.sinks",
        sinks));
  }
  return {*this};
}

ModelConfig ModelConfig::for_encoding() const {
  ModelConfig config = *this;
  config.layers = is_recurrent() ? layers : attention_index(layers);
  return config;
}

}  // namespace posbench::inline POSBENCH_REAL
