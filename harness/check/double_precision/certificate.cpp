#include "harness/check/double_precision/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/check/double_precision/stage_checks.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

void check_model(Fixture& f, Worst& worst) {
  std::vector<int> targets;
  for (size_t t = 0; t < f.sequence.tokens.size(); ++t)
    targets.push_back(uniform(f.rng, 0, kCertificateVocabulary - 1));
  const auto loss = [&] {
    f.forward();
    f.workspace.d_logits.resize(f.logits().rows(), f.logits().cols());
    return cross_entropy(f.logits(), targets, 1, f.workspace.d_logits);
  };
  f.backward(targets);
  for (const ParameterLayout::Entry& entry : f.layout.entries()) {
    check_along(entry.name, f.rng, f.parameters[entry.parameter], f.workspace.gradients[entry.parameter], loss,
                worst);
  }
}

void shift(Positions& positions, Real by) {
  for (Real& position : positions.at) position += by;
  for (std::vector<Real>& coordinate : positions.coordinates) {
    for (Real& value : coordinate) value += by;
  }
  for (Positions& of_member : positions.members) shift(of_member, by);
}

MakeEncoding by_name(const Spec& spec) {
  return [spec](const ModelConfig& config, ParameterLayout& layout) {
    return make_encoding(spec, config.for_encoding(), layout);
  };
}

bool is_refused(const Spec& spec, const ModelConfig& config) {
  try {
    ParameterLayout layout;
    make_encoding(spec, config.for_encoding(), layout);
    return false;
  } catch (const InputError&) {
    return true;
  }
}

}  // namespace

ModelConfig small_config(int heads, bool causal, bool pre_norm) {
  ModelConfig config;
  config.vocabulary = kCertificateVocabulary;
  config.layers = 2;
  config.heads = heads;
  config.width = 4 * heads;
  config.causal = causal;
  config.pre_norm = pre_norm;
  config.trained_length = config.longest = 12;
  config.coordinates = 2;
  return config;
}

const std::vector<BlockOptions>& block_options() {
  static const std::vector<BlockOptions> options = [] {
    std::vector<BlockOptions> list{
        {"norm_kind=rms_norm", [](ModelConfig& s) { s.norm_kind = NormKind::rms_norm; }},
        {"activation=swiglu", [](ModelConfig& s) { s.activation = Activation::swiglu; }},
        {"biases=false", [](ModelConfig& s) { s.biases = false; }},
        {"qk_norm=true", [](ModelConfig& s) { s.qk_norm = true; }},
        {"window=4,sinks=1", [](ModelConfig& s) { s.window = 4, s.sinks = 1; }},
        {"segment=3", [](ModelConfig& s) { s.segment = 3; }},
        {"chunk=5", [](ModelConfig& s) { s.chunk = 5; }},
        {"loops=3", [](ModelConfig& s) { s.loops = 3; }},
        {"temperature=3", [](ModelConfig& s) { s.temperature = 3; }},
        {"convolution=a,b,c,d,key_offset=0.5,smear=true",
         [](ModelConfig& s) {
           s.convolution = {true, true, true, true};
           s.key_offset = 0.5;
           s.smear = true;
         }},
        {"logit_scale=log_length", [](ModelConfig& s) { s.logit_scale = LogitScale::log_length; }},
        {"logit_scale=log_length_beyond", [](ModelConfig& s) { s.logit_scale = LogitScale::log_length_beyond; }}};
    const std::vector<BlockOptions> single = list;
    list.push_back({"all of them", [single](ModelConfig& s) {
                      for (const BlockOptions& one : single) one.set(s);
                    }});
    return list;
  }();
  return options;
}

ModelConfig fitted(const Spec& spec, ModelConfig config) {
  const EncodingInfo& info = encodings().find(spec.name).info;
  const int head_width = config.head_width();
  config.heads = (config.heads + info.heads_multiple_of - 1) / info.heads_multiple_of * info.heads_multiple_of;
  config.width = config.heads * head_width;
  config.layers = std::max(config.layers, info.min_layers);
  return config;
}

Worst gradient_error(const Spec& spec, const ModelConfig& config, int length) {
  return gradient_error(by_name(spec), fitted(spec, config), length);
}

Worst gradient_error(const MakeEncoding& make, const ModelConfig& config, int length) {
  Worst worst;
  std::string stage = "construction";
  try {
    Fixture fixture(make, config, length, /*seed=*/1);
    check_stages(fixture, config.for_encoding(), stage, worst);
    stage = "model";
    check_model(fixture, worst);
  } catch (const IndexError& error) {
    return {INFINITY,
            fmt::format("{}: an index outside a matrix, or shapes that do not match ({})", stage, error.what())};
  }
  return worst;
}

bool is_causal(const Spec& spec, ModelConfig config, int length) {
  Fixture f(by_name(spec), fitted(spec, config), length, /*seed=*/2);
  f.forward();
  const EigenMatrix before = f.logits();
  for (int t = 0; t < length; ++t) {
    const int token = f.sequence.tokens[t];
    f.sequence.tokens[t] = (token + 1) % kCertificateVocabulary;
    f.forward();
    f.sequence.tokens[t] = token;
    if (f.logits().topRows(t) != before.topRows(t)) return false;
  }
  return true;
}

double order_sensitivity(const Spec& spec, ModelConfig config, int length) {
  ModelConfig one_layer = fitted(spec, config);
  one_layer.layers = encodings().find(spec.name).info.min_layers;
  if (!is_refused(spec, one_layer)) config = one_layer;
  double moved = 0;
  for (const std::uint64_t seed : {3, 6, 7, 8}) {
    Fixture f(by_name(spec), fitted(spec, config), length, seed);
    for (int t = 0; t + 2 < length; ++t) {
      f.sequence.tokens[t] = 0;
      f.sequence.tokens[t + 1] = 1;
      f.forward();
      const EigenMatrix before = f.logits().bottomRows(1);
      std::swap(f.sequence.tokens[t], f.sequence.tokens[t + 1]);
      f.forward();
      moved = std::max(moved, (f.logits().bottomRows(1) - before).norm() / before.norm());
    }
  }
  return moved;
}

double shift_sensitivity(const Spec& spec, const ModelConfig& config, int length) {
  Fixture f(by_name(spec), fitted(spec, config), length, /*seed=*/5);
  f.forward();
  const EigenMatrix before = f.logits();
  shift(f.sequence.positions, 5);
  f.forward();
  return (f.logits() - before).norm() / before.norm();
}

bool is_finite(const Spec& spec, const ModelConfig& config, int length) {
  Fixture f(by_name(spec), fitted(spec, config), length, /*seed=*/4);
  const std::vector<int> targets(f.sequence.tokens.size(), 0);
  f.backward(targets);
  return f.logits().allFinite() && f.workspace.gradients.flat.allFinite();
}

}  // namespace posbench::inline POSBENCH_REAL
