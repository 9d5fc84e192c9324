// Measures how much of a training step each kind of work takes.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "harness/analysis/benchmark.h"

namespace posbench {

/// The kinds of work of a training step. Work that no other kind names is in `encoding` if a stage of the encoding
/// does it, otherwise in `rest`.
enum class WorkKind : unsigned char {
  layer_products,      // of weights: projections, feed-forward and output layers
  attention_products,  // of queries, keys, values and attention, and those of the encoding
  softmax,
  norms,
  activation,
  encoding,   // loops over pairs of tokens, functions such as exponentials, copies
  optimizer,  // with clipping
  rest,       // copies between heads, sums of branches, embeddings, the loss, clearing of gradients
  count
};
constexpr size_t kWorkKinds = static_cast<size_t>(WorkKind::count);
const char* to_string(WorkKind);

/// The seconds of a training step by kind of work, by sampling.
struct StepProfile {
  std::int64_t steps = 0, samples = 0;
  double seconds = 0;                             // of all steps, CPU time of the training thread
  std::array<std::int64_t, kWorkKinds> counts{};  // samples of each kind

  double step_seconds() const { return seconds / static_cast<double>(steps); }
  double fraction(WorkKind kind) const {
    return static_cast<double>(counts[static_cast<size_t>(kind)]) / static_cast<double>(samples);
  }
};

/// Trains the model for about this many seconds and adds to the profile. Another thread reads every 0.1 ms what
/// this one does. Other threads must not be training.
void add_steps(BenchmarkedModel&, double seconds, StepProfile&);

}  // namespace posbench
