// Trains a model in double precision on exported samples and prints the loss of every step: what a model written in
// another framework, in double, is held to. Initial values are those of the program, rounded to float as it has them.
//
//   train_double ENCODING MANIFEST SAMPLES.jsonl STEPS
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "encodings/registry.h"
#include "model/adamw.h"
#include "model/layers.h"
#include "model/transformer.h"

namespace posbench {
namespace {

using Json = nlohmann::json;

ModelShape shape_of(const Json& manifest) {
  const Json& model = manifest["settings"]["model"];
  ModelShape shape;
  shape.vocabulary = manifest["vocabulary"];
  shape.trained_length = manifest["trained_length"];
  shape.longest = manifest["longest_length"];
  shape.layers = model["layers"];
  shape.width = model["width"];
  shape.heads = model["heads"];
  shape.feed_forward = model["feed_forward"];
  shape.causal = model["attention"] == "causal";
  shape.pre_norm = model["norm"] == "pre";
  shape.gelu = model["activation"] == "gelu";
  shape.tied_embeddings = model["tied_embeddings"];
  return shape;
}

/// The next line of samples, and its targets.
bool read_sample(std::ifstream& lines, Sequence& sequence, std::vector<int>& targets) {
  std::string line;
  if (!std::getline(lines, line)) return false;
  const Json json = Json::parse(line);
  sequence = {.tokens = json["tokens"], .segments = json["segments"], .places = json["digit_positions"]};
  sequence.training = true;
  targets.clear();
  const std::vector<int> all = json["targets"];
  for (size_t t = 0; t < all.size(); ++t) {
    if (all[t] < 0) continue;
    sequence.asked.push_back(static_cast<int>(t));
    targets.push_back(all[t]);
  }
  return true;
}

int train(const std::string& spec, const Json& manifest, std::ifstream& lines, int steps) {
  const Json& options = manifest["settings"]["training"];
  ParameterLayout layout;
  const ModelShape shape = shape_of(manifest);
  const auto encoding = make_encoding(Spec::parse(spec), shape, layout);
  const Transformer model(shape, layout, *encoding);
  Parameters parameters = initialize(layout, manifest["seed"]);
  for (double& value : parameters.flat) value = static_cast<double>(static_cast<float>(value));
  encoding->constrain(parameters);
  AdamW optimizer(layout, {options["beta1"], options["beta2"], options["epsilon"], options["weight_decay"]});
  Gradients gradients(layout);
  StepTables tables;
  Activations activations;
  Matrix d_logits;
  Rng unused;
  const int warm_up =
      static_cast<int>(std::ceil(options["warm_up"].get<double>() * options["steps"].get<double>()));
  for (int step = 0; step < steps; ++step) {
    const int batch = options["batch"];
    std::vector<Sequence> sequences(batch);
    std::vector<std::vector<int>> targets(batch);
    size_t asked = 0;
    for (int n = 0; n < batch; ++n) {
      if (!read_sample(lines, sequences[n], targets[n])) return 1;
      sequences[n].positions = encoding->positions(sequences[n], unused);
      asked += targets[n].size();
    }
    gradients.flat.setZero();
    double loss = 0;
    for (int n = 0; n < batch; ++n) {
      model.prepare(parameters, sequences[n], tables, &gradients);
      model.forward(parameters, sequences[n], tables, unused, activations);
      d_logits.resize(activations.logits.rows(), activations.logits.cols());
      loss += cross_entropy(activations.logits, targets[n], 1.0 / static_cast<double>(asked), d_logits);
      model.backward(parameters, sequences[n], tables, activations, d_logits, gradients);
    }
    model.finish(parameters, tables, &gradients);
    clip(gradients, options["clip"]);
    const double rate = options["learning_rate"];
    optimizer.step(gradients, rate * schedule(Decay::cosine, step, options["steps"], warm_up), parameters);
    encoding->constrain(parameters);
    std::printf("%.17g\n", loss);
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
