// AdamW (Loshchilov and Hutter 2019, arXiv:1711.05101), the schedule of its learning rate, and clipping.
#pragma once
#include "model/parameters.h"

namespace posbench {

struct AdamWOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
};

class AdamW {
 public:
  AdamW(const ParameterLayout& layout, const AdamWOptions& options)
      : state{Parameters(layout), Parameters(layout)}, options_(options) {}

  void step(const Gradients&, double learning_rate, Parameters&);

  /// All that one step leaves to the next.
  struct State {
    Parameters mean, square;  // moving averages of the gradient and of its square
    double beta1_power = 1, beta2_power = 1;
  };
  State state;

 private:
  AdamWOptions options_;
};

/// Scales the gradient to at most this Euclidean norm; returns the norm it had.
double clip(Gradients&, double most);

enum class Decay { cosine, linear, constant };

/// The share of the peak learning rate at this step out of `steps`: up linearly over the warm-up, then down to 0.
double schedule(Decay, int step, int steps, int warm_up);

}  // namespace posbench
