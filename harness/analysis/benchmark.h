// Measures the speed of training, evaluation and sampling.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/spec.h"
#include "base/thread_pool.h"
#include "harness/training/train.h"
#include "model/training_step.h"
#include "tasks/task.h"

namespace posbench {

struct BenchmarkSize {
  std::string name;
  int layers, width, heads, length;
  bool causal;
  int batch;
};

/// Returns the model of this size, without its encoding.
ModelConfig model_config(const BenchmarkSize&);

/// A model of one encoding and size in training on random tokens.
class BenchmarkedModel {
 public:
  /// The pool computes the groups of a batch. It must outlive the object.
  BenchmarkedModel(const Spec& encoding, const BenchmarkSize&, int groups = 1, ThreadPool& = calling_thread());

  void step();
  void evaluate();
  double seconds_of_step();
  double seconds_of_evaluation();

  double tokens() const { return static_cast<double>(size_.length) * size_.batch; }
  /// Returns the GFLOP of a training step: twice the multiply-adds, once forward and twice backward.
  double gflop() const;
  Index parameters() const { return model_.layout.count(); }
  bool same_bytes(const BenchmarkedModel&) const;

  Spec spec;
  std::vector<double> step_seconds, peak_fractions, relative;
  std::vector<double> evaluation_seconds, relative_evaluation;

 private:
  BenchmarkSize size_;
  Model model_;
  TrainingState state_;
  std::unique_ptr<const Optimizer> optimizer_;
  TrainingWorkspace workspace_;
  std::vector<Sequence> sequences_;
  std::vector<std::vector<int>> targets_;
  std::vector<LabeledSequence> batch_;
};

/// Measures the models in turn, so that a drift of the machine affects all of them. Their speed is relative to the
/// first model, and to the peak of a matrix product, which is measured before and after each step.
void measure(const std::vector<std::unique_ptr<BenchmarkedModel>>&, int repetitions);

struct Throughput {
  double tokens_per_second;
  bool same_bytes;  // all models have the same parameters afterwards
};
/// Trains `jobs` equal models at once, one thread each, for a number of steps.
Throughput measure_throughput(const Spec& encoding, const BenchmarkSize&, int jobs, int steps);
/// Trains one model on several threads for a number of steps, with batches of kBenchmarkGroups groups.
/// `same_bytes`: one thread gives the same parameters.
constexpr int kBenchmarkGroups = 8;
Throughput measure_threads(const Spec& encoding, const BenchmarkSize&, int threads, int steps);

/// Returns the microseconds that each of `count` samples takes, in ascending order.
std::vector<double> sample_times(const Task&, int length, int count);

struct MedianAndRange {
  double low, median, high;
};
MedianAndRange median_and_range(std::vector<double> values);

}  // namespace posbench
