// Measures the heads of a saved model over many samples, and its accuracy by the distance of the evidence.
#pragma once
#include <map>
#include <optional>
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
  static constexpr double kSufficientAccuracy = 0.9;

  ExperimentId id;
  std::string split;
  int samples = 0;
  Count answers;
  std::map<Index, Count>
      by_evidence_distance;  // answers by the distance of their evidence, in tokens; only known evidence
  std::vector<MeasuredHead> heads;

  bool has_evidence() const { return !by_evidence_distance.empty(); }
  Index farthest() const { return has_evidence() ? by_evidence_distance.rbegin()->first : 0; }
  /// Returns the head with the most attention on the evidence; empty without evidence.
  std::optional<MeasuredHead> most_on_evidence() const;
  /// Returns the smallest distance from which on the accuracy is below kSufficientAccuracy: at this distance, and
  /// over all distances from it on. Empty if the accuracy suffices at all distances.
  std::optional<Index> breakdown_distance() const;
};

/// Measures the first `samples` samples of the test stream of a split.
HeadReport measure_heads(const SavedModel&, const std::string& split, int samples);

}  // namespace posbench
