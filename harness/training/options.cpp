#include "harness/training/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace posbench {

void ModelOptions::describe(OptionTable& o) {
  o.integer("layers", layers, 1, 64, "number of blocks of attention and feed-forward layers");
  o.integer("width", width, 1, 8192, "channels of the residual stream; a multiple of the number of heads");
  o.integer("heads", heads, 1, 128, "number of heads of the attention or of the gated delta rule; lstm has none");
  o.integer("feed_forward", feed_forward, 0, 65536, "inner channels of the feed-forward layers; 0: 4 x width");
  o.choice("attention", attention, {"causal", "bidirectional"},
           "tokens that a token sees: itself and earlier ones, or all");
  o.choice("norm", norm, {"pre", "post"},
           "place of the normalization: before each half of a block, or after its sum");
  o.choice(
      "activation", activation, {"gelu", "relu", "swiglu"},
      "activation function of the feed-forward layers; gelu is the tanh form; swiglu has a third matrix, and 8/3 x width inner channels by default");
  o.number("dropout", dropout, 0, 0.9,
           "probability of zeroing an entry of the embeddings and of each sublayer's output in training");
  o.flag("tied_embeddings", tied_embeddings, "use of the token embeddings as the output layer");
  o.choice(
      "block", block, {"sequential", "parallel", "attention", "lstm", "gated_delta"},
      "kind of block. sequential: attention, then feed-forward; parallel: both from the same input, as in GPT-J; attention: no feed-forward; lstm: an LSTM layer only; gated_delta: the gated delta rule, then feed-forward. The last two need a causal model and the encoding none");
  o.omit_default();
  o.choice("norm_kind", norm_kind, {"layer_norm", "rms_norm"},
           "kind of normalization: layer normalization, or RMSNorm, which neither centers nor shifts");
  o.omit_default();
  o.flag("biases", biases, "biases of linear layers and layer normalizations");
  o.omit_default();
  o.flag("qk_norm", qk_norm, "RMSNorm of the queries and keys of every head, before the encoding");
  o.omit_default();
  o.choice(
      "logit_scale", logit_scale, {"constant", "log_length", "log_length_beyond"},
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
}

ModelConfig ModelOptions::config() const {
  ModelConfig config;
  config.layers = layers;
  config.width = width;
  config.heads = heads;
  config.feed_forward = feed_forward;
  config.causal = attention == Attention::causal;
  config.pre_norm = norm == Norm::pre;
  config.feed_forward_kind = activation;
  config.dropout = dropout;
  config.tied_embeddings = tied_embeddings;
  config.block = block;
  config.norm_kind = norm_kind;
  config.biases = biases;
  config.qk_norm = qk_norm;
  config.logit_scale = logit_scale;
  config.window = window;
  config.segment = segment;
  config.chunk = chunk;
  config.sinks = sinks;
  config.temperature = temperature;
  config.loops = loops;
  if (feed_forward > 0 && !config.has_feed_forward()) {
    throw InputError(fmt::format(
        "model.feed_forward is {}, and model.block={} has no feed-forward layers; leave out one of them",
        feed_forward, to_string(block)));
  }
  if (sinks > 0 && !config.hides_keys()) {
    throw InputError(fmt::format(
        "model.sinks is {}, and model.window, model.segment and model.chunk are 0: all keys are seen; set one of "
        "them or leave out model.sinks",
        sinks));
  }
  return config;
}

void TrainingOptions::describe(OptionTable& o) {
  o.integer("steps", steps, 1, 100'000'000, "number of optimizer updates");
  o.integer("batch", batch, 1, 65536, "number of sequences of each step");
  o.integer("samples", samples, 0, 1'000'000'000,
            "size of a finite training set, which repeats in the same order; 0: all sequences are fresh");
  o.omit_default();
  o.numbers(
      "learning_rate", learning_rates, 0, 1,
      "peak learning rate; with several, an experiment trains with each, and the model that is best in validation is tested");
  o.integer(
      "tuning_seeds", tuning_seeds, 0, 100,
      "number of seeds, from 1000000000, that are trained at every learning rate and not reported; all other seeds take the rate with their best mean validation; 0: each seed chooses its own");
  o.omit_default();
  o.number("warm_up", warm_up, 0, 1, "fraction of the steps over which the learning rate rises");
  o.choice("decay", decay, {"cosine", "linear", "constant"}, "decay of the learning rate after the warm-up");
  o.choice("optimizer", optimizer, {"adamw", "sgd"},
           "optimizer: AdamW, or stochastic gradient descent with momentum");
  o.omit_default();
  o.number("momentum", momentum, 0, 0.9999999, "momentum of sgd");
  o.omit_default();
  o.number("weight_decay", weight_decay, 0, 1,
           "decoupled weight decay: parameters shrink by learning_rate x weight_decay");
  o.choice("decayed_parameters", decayed_parameters, {"matrices", "all"},
           "parameters with weight decay: matrices, without biases, gains and embeddings, or all");
  o.omit_default();
  o.number("beta1", beta1, 0, 0.9999999, "decay of AdamW's mean gradient");
  o.number("beta2", beta2, 0, 0.9999999, "decay of AdamW's mean squared gradient");
  o.number("epsilon", epsilon, 1e-12, 1, "AdamW's addition to the denominator");
  o.number("clip", clip, 1e-6, 1e9, "largest Euclidean norm of the gradient");
  o.integer("validate_every", validate_every, 1, 100'000'000, "number of steps between two validations");
  o.integer("validation_sequences", validation_sequences, 1, 1'000'000, "number of sequences of each validation");
  o.integer("early_stop", early_stop, 0, 1000,
            "number of consecutive validations without an error after which training stops; 0: never");
  o.integer(
      "extend_while_gaining", extend_while_gaining, 1, 16,
      "training doubles its steps, up to this multiple of them, if its last validation is below 0.95 and has gained 0.05 in the last 40 % of the steps; warm-up and decay are repeated; 1: never");
  o.omit_default();
  o.flag("validate_splits", validate_splits,
         "validation on the splits out of distribution too; only the learning curve depends on it");
  o.omit_default();
  o.choice("outputs", outputs, {"vocabulary", "answers"},
           "tokens among which loss and predictions choose: all, or those that the task's answers can have");
  o.omit_default();
  o.choice("lengths", lengths, {"each", "same"},
           "lengths of a batch: each sequence draws its length, or all have the same");
  o.omit_default();
  o.integer(
      "groups", groups, 1, 4096,
      "number of parts of a batch; up to as many threads compute a step, and another number rounds differently");
  o.omit_default();
  o.flag(
      "reserve", reserve,
      "reserves a tenth of the questions of each length for tests, chosen by their hash, so that training never draws "
      "them; false in reports of version 0.2, which lack the setting");
  o.omit_default();
}

OptimizerOptions TrainingOptions::optimizer_options() const {
  return {.kind = optimizer,
          .beta1 = beta1,
          .beta2 = beta2,
          .epsilon = epsilon,
          .momentum = momentum,
          .weight_decay = weight_decay,
          .decayed_parameters = decayed_parameters};
}

void EvaluationOptions::describe(OptionTable& o) {
  o.integer("sequences", sequences, 1, 100'000'000, "number of test sequences of each split");
  o.integer(
      "grid", grid, 0, 100'000'000,
      "greatest number of test sequences at each of 1 to 16 times the trained length, for the effective length; 0: no "
      "such tests");
  o.omit_default();
  o.integer(
      "grid_rules", grid_rules, 1, 2,
      "rules of these tests. 2: 64 sequences at a time until the accuracy is surely above or below 0.90, with near "
      "and far evidence, and as many answers at each multiple; 1: those of reports of version 0.2, which lack the "
      "setting");
  o.omit_default();
  o.integer(
      "shift", shift, 0, 64,
      "adds the split `shift`: the test samples in distribution, with positions that begin at a number from 1 to "
      "this multiple of the trained length; 0: no such split");
  o.omit_default();
  o.choice("layout", layout, {"by_attention", "teacher_forced", "slots"},
           "layout of answers; by_attention is teacher_forced for causal models and slots for bidirectional ones",
           {{"fed_back", "teacher_forced"}});
  o.integer("loops", loops, 0, 64, "passes of a test sequence through the layers; 0: as in training, model.loops");
  o.omit_default();
}

void ExtendOptions::describe(OptionTable& o) {
  o.text("encodings", encodings, "a list of encodings, such as none,rope->interpolated",
         "encodings that trained models are also tested with; PARENT->ENCODING: models of one encoding only");
  o.omit_default();
  o.integer("steps", steps, 0, 100'000'000,
            "number of optimizer updates with the other encoding, after which the model is tested again; 0: none");
  o.omit_default();
  o.text("length", length, "a value of the task's option length, such as 128 or 4x",
         "length of the sequences of these updates; empty: the trained length");
  o.omit_default();
}

namespace {

[[noreturn]] void refuse_setting(ExperimentOptions& options, const std::string& name) {
  std::vector<std::string> known;
  options.for_each_section([&](const std::string& section, const OptionTable& table) {
    for (const Option& option : table.all()) known.push_back(section + "." + option.name);
  });
  const auto without_section = [&](const std::string& setting) { return setting.ends_with("." + name); };
  const auto meant = std::find_if(known.begin(), known.end(), without_section);
  const std::string hint = meant == known.end() ? did_you_mean(name, known) : did_you_mean(*meant, known);
  throw InputError(fmt::format(
      "unknown setting '{}'{} (expected model.OPTION, training.OPTION, evaluation.OPTION or extend.OPTION; 'posbench list settings' "
      "shows all)",
      name, hint));
}

}  // namespace

void ExperimentOptions::set(const std::string& name, const std::string& value) {
  const size_t dot = name.find('.');
  bool found = false;
  for_each_section([&](const std::string& section, const OptionTable& table) {
    if (dot == name.npos || name.substr(0, dot) != section) return;
    table.set(name.substr(dot + 1), value, section);
    found = true;
  });
  if (!found) refuse_setting(*this, name);
}

std::string ExperimentOptions::get(const std::string& name) {
  std::optional<std::string> value;
  for_each_section([&](const std::string& section, const OptionTable& table) {
    for (const Option& option : table.all()) {
      if (section + "." + option.name == name) value = option.get();
    }
  });
  if (!value) refuse_setting(*this, name);
  return *value;
}

void ExperimentOptions::for_each_section(
    const std::function<void(const std::string& section, const OptionTable&)>& f) {
  const auto section = [&](const char* name, auto& options) {
    OptionTable table;
    options.describe(table);
    f(name, table);
  };
  section("model", model);
  section("training", training);
  section("evaluation", evaluation);
  section("extend", extend);
}

Layout ExperimentOptions::layout() const {
  switch (evaluation.layout) {
    case AnswerLayout::teacher_forced:
      return Layout::teacher_forced;
    case AnswerLayout::slots:
      return Layout::slots;
    case AnswerLayout::by_attention:
      break;
  }
  return model.attention == Attention::causal ? Layout::teacher_forced : Layout::slots;
}

}  // namespace posbench
