// Measures the heads of a saved model over many samples.
#pragma once
#include <string>
#include <vector>

#include "harness/analysis/attention_statistics.h"
#include "harness/exchange/saved_model.h"

namespace posbench {

/// One head. The queries of its statistics are the scored positions of all samples.
struct MeasuredHead {
  int layer = 0, head = 0;
  HeadStatistics statistics;
};

struct HeadReport {
  ExperimentId id;
  std::string split;
  int samples = 0;
  Count answers;
  bool has_evidence = false;  // the evidence of an answer is known
  std::vector<MeasuredHead> heads;
};

/// Measures the first `samples` samples of the test stream of a split.
HeadReport measure_heads(const SavedModel&, const std::string& split, int samples);

}  // namespace posbench
