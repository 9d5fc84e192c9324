// `posbench inspect --over N`: what a trained model does over many samples.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/commands/output.h"
#include "harness/runs/attention_statistics.h"
#include "harness/runs/saved_model.h"

namespace posbench {

/// One head over all samples; its queries are the scored positions.
struct HeadOverview {
  int layer = 0, head = 0;
  HeadStatistics statistics;
};

struct Overview {
  ExperimentId id;
  std::string split, distance_unit, run;  // run: as in Inspection
  int samples = 0;
  Count answers;
  std::map<Index, Count> by_reach;  // answers by the distance to their source, in tokens
  std::vector<HeadOverview> heads;

  bool has_sources() const { return !by_reach.empty(); }
  Index farthest() const { return by_reach.empty() ? 0 : by_reach.rbegin()->first; }
  /// The least distance from which answers are wrong: there, and in all beyond it, fewer than 0.9 are right. Empty if there
  /// is none.
  std::optional<Index> falls_at() const;
};

/// The first `samples` of the test stream of a split.
Overview look_over(const SavedModel&, const std::string& split, std::optional<int> length, int samples);

std::string text(const Overview&, Format, const ConsoleStyle&);

}  // namespace posbench
