// Trains a model in double precision on exported samples and prints the loss of every step, to compare a model in
// another framework with. Initial values are those of the program, rounded to float as there.
//
//   train_double ENCODING MANIFEST SAMPLES.jsonl STEPS
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "model/training_step.h"

namespace posbench {
namespace {

using Json = nlohmann::json;

ModelConfig shape_of(const Json& manifest) {
  const Json& model = manifest["settings"]["model"];
  ModelConfig config;
  config.vocabulary = manifest["vocabulary"];
  config.trained_length = manifest["trained_length"];
  config.longest = manifest["longest_length"];
  config.layers = model["layers"];
  config.width = model["width"];
  config.heads = model["heads"];
  config.feed_forward = model["feed_forward"];
  config.causal = model["attention"] == "causal";
  config.pre_norm = model["norm"] == "pre";
  config.feed_forward_kind = model["activation"] == "gelu"   ? FeedForwardKind::gelu
                             : model["activation"] == "relu" ? FeedForwardKind::relu
                                                             : FeedForwardKind::swiglu;
  config.norm_kind =
      model.value("norm_kind", "layer_norm") == "rms_norm" ? NormKind::rms_norm : NormKind::layer_norm;
  config.biases = model.value("biases", true);
  config.qk_norm = model.value("qk_norm", false);
  const std::string scale = model.value("logit_scale", "constant");
  config.logit_scale = scale == "constant"     ? LogitScale::constant
                       : scale == "log_length" ? LogitScale::log_length
                                               : LogitScale::log_length_beyond;
  config.window = model.value("window", 0);
  config.segment = model.value("segment", 0);
  config.chunk = model.value("chunk", 0);
  config.sinks = model.value("sinks", 0);
  config.temperature = model.value("temperature", 0);
  config.loops = model.value("loops", 1);
  config.tied_embeddings = model["tied_embeddings"];
  return config;
}

/// The next line of samples, and its targets.
bool read_sample(std::ifstream& lines, Sequence& sequence, std::vector<int>& targets) {
  std::string line;
  if (!std::getline(lines, line)) return false;
  const Json json = Json::parse(line);
  sequence = {.tokens = json["tokens"], .segments = json["segments"], .digit_positions = json["digit_positions"]};
  sequence.training = true;
  targets.clear();
  const std::vector<int> all = json["targets"];
  for (size_t t = 0; t < all.size(); ++t) {
    if (all[t] < 0) continue;
    sequence.target_positions.push_back(static_cast<int>(t));
    targets.push_back(all[t]);
  }
  return true;
}

int train(const std::string& spec, const Json& manifest, std::ifstream& lines, int steps) {
  const Json& options = manifest["settings"]["training"];
  ParameterLayout layout;
  const ModelConfig config = shape_of(manifest);
  const auto encoding = make_encoding(Spec::parse(spec), config, layout);
  const Transformer model(config, layout, *encoding);
  Parameters parameters = initialize(layout, manifest["seed"]);
  for (double& value : parameters.flat) value = static_cast<double>(static_cast<float>(value));
  encoding->constrain(parameters);
  const auto optimizer = make_optimizer({.beta1 = options["beta1"],
                                         .beta2 = options["beta2"],
                                         .epsilon = options["epsilon"],
                                         .weight_decay = options["weight_decay"]},
                                        layout);
  OptimizerState state = optimizer->initial_state(layout);
  TrainingWorkspace workspace(layout);
  Rng unused;
  const int warm_up =
      static_cast<int>(std::ceil(options["warm_up"].get<double>() * options["steps"].get<double>()));
  for (int step = 0; step < steps; ++step) {
    const int batch = options["batch"];
    std::vector<Sequence> sequences(batch);
    std::vector<std::vector<int>> targets(batch);
    std::vector<LabeledSequence> labeled;
    for (int n = 0; n < batch; ++n) {
      if (!read_sample(lines, sequences[n], targets[n])) return 1;
      sequences[n].positions = encoding->positions(sequences[n], unused);
      labeled.push_back({sequences[n], targets[n], manifest["outputs"].get<Index>()});
    }
    const double rate = options["learning_rate"];
    const StepResult result = training_step(
        {model, *optimizer, state, parameters, workspace}, labeled, [](size_t) { return Rng(); }, options["clip"],
        rate * schedule(Decay::cosine, step, options["steps"], warm_up));
    std::printf("%.17g\n", result.loss);
  }
  return 0;
}

}  // namespace
}  // namespace posbench

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  std::ifstream manifest(argv[2]), samples(argv[3]);
  return posbench::train(argv[1], nlohmann::json::parse(manifest), samples, std::atoi(argv[4]));
}
