// Trains every encoding and variant for some steps and prints a line for each with two hashes of the parameters'
// bits: with whole batches, and with batches of two groups, which two threads compute. Lines of two instruction
// sets (POSBENCH_ISA) or two processors are equal if the bytes are.
// The other optimizers train models without an encoding.
//   same_bytes [steps [name of one encoding]]
//   same_bytes sets          prints the instruction sets of this processor

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "encodings/registry.h"
#include "model/denormals.h"
#include "model/kernels.h"
#include "model/training_step.h"

using namespace posbench;

namespace {

constexpr int kVocabulary = 11;

struct Example {
  Sequence sequence;
  std::vector<int> targets;
};

/// Draws an example of a length that fills no vector. Two of three positions are target positions.
Example draw_example(const PositionEncoding& encoding, int length, Rng& rng) {
  Example e;
  e.sequence.training = true;
  e.sequence.tokens = uniform_tokens(rng, length, 0, kVocabulary - 1);
  e.sequence.digit_positions = uniform_tokens(rng, length, 0, 3);
  e.sequence.coordinates.resize(2);
  for (int t = 0; t < length; ++t) {
    e.sequence.coordinates[0].push_back(t % 4);
    e.sequence.coordinates[1].push_back(1 + t / 4);
    e.sequence.segments.push_back(t / 5);
    if (t % 3 != 1) e.sequence.target_positions.push_back(t);
  }
  e.targets = uniform_tokens(rng, static_cast<int>(e.sequence.target_positions.size()), 0, kVocabulary - 1);
  e.sequence.positions = encoding.positions(e.sequence, rng);
  return e;
}

std::uint64_t hash(std::uint64_t hash, const Vector& values) {
  for (const Real value : values) hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001b3;  // FNV-1a
  return hash;
}

/// Trains a small model with a thread for each group. Returns a hash of its parameters after the last step.
std::uint64_t train(const Spec& spec, const std::string& name, const ModelConfig& config, int steps, int groups) {
  ParameterLayout layout;
  const auto encoding = make_encoding(spec, config, layout);
  const Transformer model(config, layout, *encoding);
  Parameters parameters = initialize(layout, 1);
  encoding->constrain(parameters);
  const auto optimizer = make_optimizer({.optimizer = Spec::parse(name), .weight_decay = 0.01}, layout);
  OptimizerState state = optimizer->initial_state(layout);
  IdleCores cores(groups - 1);
  ThreadPool pool(groups, cores);
  TrainingWorkspace workspace(layout, groups, pool);
  Rng rng = make_rng(1, "same bytes");
  for (int step = 0; step < steps; ++step) {
    std::vector<Example> examples;
    for (const int length : {21, 13, 37}) examples.push_back(draw_example(*encoding, length, rng));
    std::vector<LabeledSequence> batch;
    for (const Example& e : examples) batch.push_back({e.sequence, e.targets});
    const auto dropout = [&](size_t n) {
      return make_rng(1, "dropout", static_cast<std::uint64_t>(step) * 3 + n);
    };
    training_step({model, *optimizer, state, parameters, workspace}, batch, dropout, 1, 3e-3);
  }
  return hash(0xcbf29ce484222325, parameters.flat);
}

void print(const std::string& name, const std::string& optimizer, int steps) {
  const EncodingInfo& info = encodings().find(name).info;
  std::vector<std::string> specs{name};
  for (const std::string& options : info.variants) specs.push_back(name + ":" + options);
  for (const std::string& text : specs) {
    for (const bool causal : {true, false}) {
      if (!causal && info.causal_only) continue;
      ModelConfig config{{.width = causal ? 32 : 48, .heads = causal ? 4 : 2}, kVocabulary};
      config.causal = causal;
      config.pre_norm = causal;
      config.activation = causal ? Activation::gelu : Activation::relu;
      config.trained_length = config.longest = 40;
      config.coordinates = 2;
      config.dropout = causal ? 0 : 0.1;
      std::uint64_t whole = 0, in_groups = 0;
      try {
        whole = train(Spec::parse(text), optimizer, config, steps, /*groups=*/1);
        in_groups = train(Spec::parse(text), optimizer, config, steps, /*groups=*/2);
      } catch (const InputError&) {  // not defined for this attention
        continue;
      }
      fmt::print("{:016x} {:016x}  {}{}{}\n", whole, in_groups, text, causal ? "" : ", bidirectional",
                 optimizer == "adamw" ? "" : ", " + optimizer);
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20);  // as the program does
  const FlushDenormals flush;
  try {
    const std::string first = argc > 1 ? argv[1] : "5";
    if (first == "sets") {
      for (const std::string& set : instruction_sets()) fmt::print("{}\n", set);
      return 0;
    }
    if (const char* set = std::getenv("POSBENCH_ISA")) use_instruction_set(set);
    for (const std::string& name : argc > 2 ? std::vector<std::string>{argv[2]} : encodings().names())
      print(name, "adamw", std::stoi(first));
    for (const std::string& name : optimizers().names())
      if (argc <= 2 && name != "adamw") print("none", name, std::stoi(first));
  } catch (const std::exception& error) {
    fmt::print(stderr, "same_bytes: {}\n", error.what());
    return 2;
  }
}
