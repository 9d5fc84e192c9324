// Measures the speed of training and evaluation.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/spec.h"
#include "harness/training/train.h"
#include "model/training_step.h"

namespace posbench {

struct BenchmarkSize {
  std::string name;
  int layers, width, heads, length;
  bool causal;
  int batch;
  std::vector<std::string> settings = {};  // "model.convolution=a,b": others of the model
};

/// Returns the model of this size, without its encoding. Throws InputError for a setting that is not valid.
ModelConfig model_config(const BenchmarkSize&);

/// A model of one encoding and size in training on random tokens.
class BenchmarkedModel {
 public:
  BenchmarkedModel(const Spec& encoding, const BenchmarkSize&);

  void step();
  void evaluate();
  double seconds_of_step();
  double seconds_of_evaluation();

  double tokens() const { return static_cast<double>(size_.length) * size_.batch; }
  /// Returns the GFLOP of a training step: twice the multiply-adds, once forward and twice backward.
  double gflop() const;
  Index parameters() const { return model_.layout.count(); }
  /// Returns the encoding and the settings.
  std::string name() const;
  const Parameters& values() const { return state_.parameters; }

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

struct MedianAndRange {
  double low, median, high;
};
MedianAndRange median_and_range(std::vector<double> values);

}  // namespace posbench
