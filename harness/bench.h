// `posbench bench`: how fast one training step is, for every encoding, as shares of what the machine can do in the
// same run.
#pragma once
#include <string>
#include <vector>

#include "results/json.h"

namespace posbench {

struct BenchRequest {
  std::string sizes = "all", encodings = "none,sinusoidal,learned_abs,shaw_k,rope,alibi,cope";
  int repetitions = 5;
  bool samples = false;  // of tasks, instead of training steps
  bool json = false, color = false;
  std::vector<std::string> command;
};

/// Measures and prints. Throws std::invalid_argument for an unknown size or encoding.
void bench(const BenchRequest&);

}  // namespace posbench
