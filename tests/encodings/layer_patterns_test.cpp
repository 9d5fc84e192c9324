// Tests which keys each layer sees if the layers differ, and wrappers that act on all keys of a query.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "encodings/presets.h"
#include "encodings/registry.h"
#include "harness/check/double_precision/certificate.h"
#include "model/hidden.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

constexpr int kLength = 13;

/// A model with an encoding after one sequence.
struct Model : Fixture {
  Model(const std::string& spec, const ModelConfig& config, int length = kLength)
      : Fixture([&](const ModelConfig& c, ParameterLayout& l) { return make_encoding(Spec::parse(spec), c, l); },
                config, length, /*seed=*/7) {
    forward();
  }
  const AttentionActivations& layer(int n) const {
    return workspace.activations.blocks[static_cast<size_t>(n)].attention;
  }
};

ModelConfig with_layers(int layers, bool causal) {
  ModelConfig config = small_config(2, causal, true);
  config.layers = layers;
  return config;
}

/// Checks that the keys with weight in a layer are those that `sees` accepts.
void check_seen(const AttentionActivations& layer, bool causal, const std::function<bool(int i, int j)>& sees) {
  for (const Matrix& weights : layer.attention) {
    for (int i = 0; i < kLength; ++i) {
      double sum = 0;
      for (int j = 0; j < (causal ? i + 1 : kLength); ++j) {
        INFO("query " << i << ", key " << j);
        CHECK((weights(i, j) > 0) == sees(i, j));
        CHECK((weights(i, j) == 0) != sees(i, j));
        sum += weights(i, j);
      }
      CHECK(sum == Approx(1));
    }
  }
}

}  // namespace

TEST_CASE("each layer of a pattern sees the keys of its own window, chunk and sinks") {
  for (const bool causal : {true, false}) {
    INFO("causal " << causal);
    const Model model("layers:of=(rope,none,shaw_k),window=(3,0,0),chunk=(0,0,4),sinks=(0,0,1)",
                      with_layers(6, causal), kLength);
    for (const int first : {0, 3}) {
      check_seen(model.layer(first), causal, [](int i, int j) { return std::abs(i - j) < 3; });
      check_seen(model.layer(first + 1), causal, [](int, int) { return true; });
      check_seen(model.layer(first + 2), causal, [](int i, int j) { return i / 4 == j / 4 || j == 0; });
    }
  }
}

TEST_CASE("a change of a token that no layer of a pattern lets through does not change later logits") {
  for (const bool causal : {true, false}) {
    Model model("layers:of=(rope,none),window=3,chunk=(0,4)", with_layers(2, causal));
    const EigenMatrix before = model.logits();
    model.sequence.tokens[5] = (model.sequence.tokens[5] + 1) % kCertificateVocabulary;
    model.forward();
    // Layer 0 carries token 5 to tokens 3 to 7, and layer 1 within their chunks, 0 to 3 and 4 to 7.
    CHECK((model.logits().bottomRows(kLength - 8) == before.bottomRows(kLength - 8)));
    CHECK((model.logits().row(7) - before.row(7)).norm() > 1e-9);
    CHECK((model.logits().topRows(causal ? 4 : 0) == before.topRows(causal ? 4 : 0)));
  }
}

TEST_CASE("an option of all layers gives the bytes of the option of the model") {
  struct Case {
    std::string options;
    std::function<void(ModelConfig&)> set;
  };
  const std::vector<Case> cases{
      {"window=3", [](ModelConfig& c) { c.window = 3; }},
      {"window=0.25x", [](ModelConfig& c) { c.window = 3; }},
      {"window=3,sinks=1", [](ModelConfig& c) { c.window = 3, c.sinks = 1; }},
      {"chunk=4", [](ModelConfig& c) { c.chunk = 4; }},
      {"chunk=4,sinks=1", [](ModelConfig& c) { c.chunk = 4, c.sinks = 1; }},
      {"temperature=3", [](ModelConfig& c) { c.temperature = 3; }},
      {"window=4,logit_scale=log_length",
       [](ModelConfig& c) { c.window = 4, c.logit_scale = LogitScale::log_length; }},
      {"logit_scale=log_length_beyond", [](ModelConfig& c) { c.logit_scale = LogitScale::log_length_beyond; }}};
  for (const Case& c : cases) {
    for (const bool causal : {true, false}) {
      INFO(c.options << (causal ? ", causal" : ", bidirectional"));
      ModelConfig config = with_layers(4, causal);
      Model by_layer("layers:of=(rope,alibi)," + c.options, config);
      const std::string no_window = c.options.starts_with("window=") ? "" : "window=0,";
      Model of_one("local:base=(ssmax:base=shaw_k)," + no_window + c.options, config);
      const EigenMatrix plain = Model("layers:of=(rope,alibi)", config).logits();
      c.set(config);
      Model of_model("layers:of=(rope,alibi)", config);
      CHECK((by_layer.logits() == of_model.logits()));
      CHECK((of_model.logits() - plain).norm() > 1e-9);
      Model ssmax_of_model("ssmax:base=shaw_k", config);
      CHECK((of_one.logits() == ssmax_of_model.logits()));
    }
  }
}

TEST_CASE("a pattern may be filled by its last encoding, and be shorter in a model with fewer layers") {
  const auto encoding_of = [](const std::string& spec, int layer, int layers) {
    const Spec parsed = Spec::parse(spec);
    return encodings().find(parsed.name).of_layer(parsed, layer, layers).text();
  };
  const std::string first = "layers:of=(rope,none),every=4", last = first + ",fill=last,shorten=true";
  for (int layer = 0; layer < 8; ++layer) {
    CHECK(encoding_of(first, layer, 8) == (layer % 4 == 3 ? "none" : "rope"));
    CHECK(encoding_of(last, layer, 8) == (layer % 4 == 0 ? "rope" : "none"));
  }
  CHECK(encoding_of(last, 1, 3) == "none");
  CHECK(encoding_of(last, 2, 3) == "none");
  CHECK(encoding_of(first + ",shorten=true", 1, 2) == "none");
  CHECK(encoding_of(first + ",last_layer=last", 4, 5) == "none");
  CHECK(encoding_of(first + ",last_layer=last", 4, 6) == "rope");
  CHECK(encoding_of("layers:of=(rope,none),window=(8,0),temperature=(0,4)", 0, 2) == "local:base=rope,window=8");
  CHECK(encoding_of("layers:of=(rope,none),window=(8,0),temperature=(0,4)", 1, 2) ==
        "local:base=none,window=0,temperature=4");
  CHECK_FALSE(encodings().find("rope").of_layer);
}

TEST_CASE("a sink takes attention from all keys, and none if its logit is low") {
  Model model("sink_logit:base=(layers:of=(rope,none),window=(3,0))", with_layers(2, true));
  for (const auto& entry : model.layout.entries()) {
    if (entry.name.starts_with("sink_logit.logit")) model.parameters[entry.parameter].setConstant(1);
  }
  model.forward();
  for (const Matrix& weights : model.layer(0).attention) {
    for (Index i = 0; i < kLength; ++i) {
      CHECK(weights.row(i).head(i + 1).sum() < 0.95);
      for (Index j = 0; j <= i - 3; ++j) CHECK(weights(i, j) == 0);
    }
  }
  for (const auto& entry : model.layout.entries()) {
    if (entry.name.starts_with("sink_logit.logit")) model.parameters[entry.parameter].setConstant(-200);
  }
  model.forward();
  for (Index i = 0; i < kLength; ++i)
    CHECK(model.layer(1).attention[0].row(i).head(i + 1).sum() == Approx(1).epsilon(1e-12));
}

TEST_CASE("scales around a sink do not multiply its logit, and its gradients agree with finite differences") {
  for (const std::string spec :
       {"ssmax:base=sink_logit", "heads:of=(sink_logit,gated)", "sum:of=(cope,sink_logit)",
        "local:base=sink_logit,temperature=2", "layers:of=(sink_logit,(gated:base=alibi))"}) {
    const Worst worst = gradient_error(Spec::parse(spec), with_layers(2, true), 9);
    INFO(spec << ": " << worst.where);
    CHECK(worst.error <= 1e-6);
  }
}

TEST_CASE("every preset is its spec, has correct gradients and differs by layer where its model does") {
  for (const Preset& preset : presets()) {
    INFO(preset.name);
    for (const std::string* text : {&preset.model, &preset.source, &preset.pattern, &preset.scaling})
      CHECK_FALSE(text->empty());
    for (const int layers : {2, 3, 4, 5, 6, 7, 8}) {
      for (const bool causal : {true, false}) {
        const ModelConfig config = with_layers(layers, causal);
        Model named(preset.name, config), written(preset.spec, config);
        CHECK((named.logits() == written.logits()));
      }
    }
    for (const bool causal : {true, false}) {
      const Worst worst = gradient_error(Spec::parse(preset.name), with_layers(4, causal), 11);
      INFO(worst.where);
      CHECK(worst.error <= 1e-6);
    }
  }
  CHECK(find_preset("llama5") == nullptr);
}

TEST_CASE("layers of presets see all keys where the configurations of their models say so, at 2 to 24 layers") {
  struct Case {
    std::string preset;
    int period, global_layer;  // of each period
    bool last_is_global;
  };
  for (const Case& c : {Case{"command_a", 4, 3, false},
                        {"gemma3", 6, 5, false},
                        {"gemma4", 6, 5, true},
                        {"gpt_oss", 2, 1, false},
                        {"granite_swa", 4, 0, false},
                        {"llama4", 4, 3, false},
                        {"swan", 4, 0, false}}) {
    Spec spec = Spec::parse(find_preset(c.preset)->spec);
    if (spec.name == "sink_logit") spec = *encodings().find(spec.name).wrapped(spec);
    for (int layers = 2; layers <= 24; ++layers) {
      // A shorter model has one global layer, and the others as often as there are layers.
      const int period = std::min(c.period, layers), global_layer = std::min(c.global_layer, period - 1);
      for (int layer = 0; layer < layers; ++layer) {
        INFO(c.preset << ", layer " << layer << " of " << layers);
        const std::string text = encodings().find(spec.name).of_layer(spec, layer, layers).text();
        const bool hides =
            text.find("window=0.25x") != std::string::npos || text.find("chunk=") != std::string::npos;
        const bool is_last = c.last_is_global && layer + 1 == layers;
        CHECK(hides == !(layer % period == global_layer || is_last));
      }
    }
  }
}
