// Computes one step of training: the loss of a batch, its gradient, and the update.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "model/optimizer.h"
#include "model/transformer.h"

namespace posbench::inline POSBENCH_REAL {

/// A sequence with its targets. Both must outlive the batch.
struct LabeledSequence {
  const Sequence& sequence;
  const std::vector<int>& targets;  // (A): the expected ids at the sequence's target positions
  Index outputs = 0;                // the loss is over the ids below this; 0: over the whole vocabulary
};

/// The memory of a thread that computes one sequence after another.
struct ThreadWorkspace {
  StepCache tables;
  SequenceWorkspace activations;
  Matrix d_logits;
};

/// Memory that all steps reuse. A batch is one group, which the calling thread computes in this memory, or several
/// groups, which the threads of a pool compute in memory of their own.
///
/// Sequence n of a batch belongs to group n modulo the number of groups. The gradient of a group is the sum over
/// its sequences in their order, and that of the batch is the sum over the groups in their order. Therefore the
/// bytes of a gradient depend on the number of groups, and not on the number of threads.
struct TrainingWorkspace : ThreadWorkspace {
  explicit TrainingWorkspace(const ParameterLayout& layout) : TrainingWorkspace(layout, 1, calling_thread()) {}
  /// A batch with fewer sequences than `num_groups` has a group for each sequence. The pool must outlive the
  /// object.
  TrainingWorkspace(const ParameterLayout& layout, int num_groups, ThreadPool& threads)
      : gradients(layout), groups(num_groups), pool(threads) {}

  Gradients gradients;  // of the last batch; clipped if there was an update

  int groups;
  ThreadPool& pool;
  StepCache shared;                        // read by all threads
  std::vector<ThreadWorkspace> threads;    // one for each thread of the pool
  std::vector<Gradients> group_gradients;  // of all groups but the first, whose buffer is `gradients`
  std::vector<double> group_losses;
};

/// Returns the random stream of dropout for sequence n of a batch. Several threads may call it at once.
using DropoutStream = std::function<Rng(size_t n)>;

/// Returns the sum of cross-entropies over the targets of a batch, times `weight`. Writes its gradient to
/// workspace.gradients.
double loss_and_gradient(const Transformer&, const Parameters&, std::span<const LabeledSequence> batch,
                         double weight, const DropoutStream&, TrainingWorkspace&);

struct StepResult {
  double loss = 0;     // mean cross-entropy over the targets, before the update
  bool finite = true;  // false: loss or gradient is infinite or NaN, and there was no update
};

/// A model in training. All members must outlive it.
struct TrainedModel {
  const Transformer& transformer;
  const Optimizer& optimizer;
  OptimizerState& state;
  Parameters& parameters;
  TrainingWorkspace& workspace;
};

/// Computes the gradient of the mean cross-entropy over the targets of a batch, clips it to `max_norm`, updates
/// the parameters and projects them back into their range.
StepResult training_step(const TrainedModel&, std::span<const LabeledSequence> batch, const DropoutStream&,
                         double max_norm, double learning_rate);

}  // namespace posbench::inline POSBENCH_REAL
