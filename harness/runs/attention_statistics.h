// What the heads of a trained model do over many samples: means of attention and of scores by distance, and where the
// attention lies relative to the key that the answer depends on.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/position_encoding.h"

namespace posbench {

struct Mean {
  double sum = 0;
  std::int64_t count = 0;
  void add(double value) { sum += value, ++count; }
  double value() const { return sum / static_cast<double>(count); }  // NaN of nothing
};

/// One query of a sequence.
struct Query {
  Index at = 0;
  Index keys = 0;               // it sees the keys 0 .. keys - 1
  std::optional<Index> source;  // the key that its answer depends on
  std::optional<int> distance;  // to the source, in the task's unit
};

/// Of one head. Distances are the query's place minus the key's, in tokens.
struct HeadStatistics {
  struct AtDistance {
    Mean attention, positional;  // positional: the score minus q k / sqrt(D)
  };
  /// A part of the scores, or another map of the encoding: at the source, and at the other keys of the query.
  struct Part {
    Mean source, others;
  };
  static constexpr Index kMaxOffset = 8;

  std::map<Index, AtDistance> by_distance;
  Mean entropy;                     // of the attention of a query, in nats
  Mean on_source, nearer, farther;  // attention on the source, on keys nearer to the query, and on the rest
  std::map<Index, Mean> by_offset;  // attention by key - source, to kMaxOffset either way
  Mean content_margin;              // q k / sqrt(D): the source minus the mean of the nearer keys
  std::map<std::string, Part> parts;
  std::map<int, std::vector<double>> counts;  // CoPE's count at the source, by the distance in the task's unit

  /// `maps`: those of a layer, as Transformer::inspect gives them.
  void add(const std::vector<AttentionMap>& maps, size_t head, const Query&);

  /// By how much the positional part falls with each token of distance, from 0 to `farthest`: the slope of the least
  /// squares through its means. Empty where there are fewer than two distances, or no positional part at all.
  std::optional<double> position_margin(Index farthest) const;
  /// The distance in tokens at which nearer keys win: content_margin / position_margin. Empty where there is no content
  /// margin, or the positional part does not fall.
  std::optional<double> predicted_reach(Index farthest) const;
};

}  // namespace posbench
