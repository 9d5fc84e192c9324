// Trains every encoding, with the variants of its registration, for some steps, and prints a line for each with a
// hash of the parameters' bits. Equal lines mean equal bytes: on two instruction sets (POSBENCH_ISA), or on two
// processors.
//   same_bytes [steps [name of one encoding]]
//   same_bytes sets          the instruction sets that can be had here
#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <stdexcept>

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

/// Of a length that fills no vector; two of three positions are target positions.
Example draw(const PositionEncoding& encoding, int length, Rng& rng) {
  Example e;
  e.sequence.training = true;
  e.sequence.tokens = uniform_tokens(rng, length, 0, kVocabulary - 1);
  e.sequence.digit_positions = uniform_tokens(rng, length, 0, 3);
  for (int t = 0; t < length; ++t) {
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

/// Trains a small model; a hash of its parameters after the last step.
std::uint64_t train(const Spec& spec, ModelShape shape, int steps) {
  ParameterLayout layout;
  const auto encoding = make_encoding(spec, shape, layout);
  const Transformer model(shape, layout, *encoding);
  Parameters parameters = initialize(layout, 1);
  encoding->constrain(parameters);
  const auto optimizer = make_optimizer({.weight_decay = 0.01}, layout);
  OptimizerState state = optimizer->initial_state(layout);
  TrainingWorkspace workspace(layout);
  Rng rng = stream(1, "same bytes");
  for (int step = 0; step < steps; ++step) {
    std::vector<Example> examples;
    for (const int length : {21, 13, 37}) examples.push_back(draw(*encoding, length, rng));
    std::vector<LabelledSequence> batch;
    for (const Example& e : examples) batch.push_back({e.sequence, e.targets});
    const auto dropout = [&](size_t n) { return stream(1, "dropout", static_cast<std::uint64_t>(step) * 3 + n); };
    training_step(model, batch, dropout, 1, 3e-3, *optimizer, state, parameters, workspace);
  }
  return hash(0xcbf29ce484222325, parameters.flat);
}

void print(const std::string& name, int steps) {
  const EncodingInfo& info = encodings().find(name).info;
  std::vector<std::string> specs{name};
  for (const std::string& options : info.variants) specs.push_back(name + ":" + options);
  for (const std::string& text : specs) {
    for (const bool causal : {true, false}) {
      if (!causal && info.causal_only) continue;
      ModelShape shape{.vocabulary = kVocabulary, .width = causal ? 32 : 48, .heads = causal ? 4 : 2};
      shape.causal = causal;
      shape.pre_norm = causal;
      shape.feed_forward_kind = causal ? FeedForwardKind::gelu : FeedForwardKind::relu;
      shape.trained_length = shape.longest = 40;
      shape.dropout = causal ? 0 : 0.1;
      std::uint64_t bits = 0;
      try {
        bits = train(Spec::parse(text), shape, steps);
      } catch (const std::invalid_argument&) {  // not defined for this attention
        continue;
      }
      fmt::print("{:016x}  {}{}\n", bits, text, causal ? "" : ", bidirectional");
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
      print(name, std::stoi(first));
  } catch (const std::exception& error) {
    fmt::print(stderr, "same_bytes: {}\n", error.what());
    return 2;
  }
}
