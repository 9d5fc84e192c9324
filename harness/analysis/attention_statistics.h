// Collects statistics of attention heads over many queries: means of attention and scores by distance, and the
// attention on the evidence, the key that the answer depends on.
#pragma once
#include <cstdint>
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
  double value() const { return sum / static_cast<double>(count); }  // NaN without values
};

/// States at which distances the position term of a head is greater.
enum class Locality { none, local, anti_local, mixed };
/// Returns "-", "local", "anti-local" or "mixed".
std::string to_string(Locality);

/// The position term of a head: its mean for each distance |i - j|. The term is the positional part of the score.
/// In a layer whose input is a sum of token embeddings and positions it is the position-position term.
class PositionTerm {
 public:
  /// Returns the map that has the position terms of a layer.
  static const AttentionMap& map_of(const std::vector<AttentionMap>& maps);

  /// Adds one query, which sees the keys 0 .. keys - 1. Keys that the encoding hides have no value.
  void add(const Matrix& term, Index query, Index keys);

  /// Compares the means of all pairs of distances. If they differ, `local` has the greater mean at the smaller
  /// distance in at least three quarters of the pairs, and `anti_local` at the greater distance. A distance at
  /// which all keys are hidden is below all others. Without two means that differ the result is `none`.
  Locality locality() const;

 private:
  std::map<Index, Mean> by_distance_;
};

/// One query of a sequence.
struct Query {
  Index at = 0;
  Index keys = 0;                 // it sees the keys 0 .. keys - 1
  std::optional<Index> evidence;  // the key that its answer depends on
};

/// Statistics of one head. Distances are the query's position minus the key's, in tokens.
struct HeadStatistics {
  struct AtDistance {
    Mean attention, positional;  // positional: the score minus its content term, of keys that are not hidden
  };
  /// Means of a part of the scores, or of another map of the encoding, at the evidence and at the other keys of
  /// the query. Hidden keys are left out.
  struct Part {
    Mean evidence, others;
  };
  std::map<Index, AtDistance> by_distance;
  Mean entropy;                       // of the attention of a query, in nats
  Mean on_evidence, nearer, farther;  // attention on the evidence, on keys nearer to the query, and on the rest
  PositionTerm position_term;
  std::map<std::string, Part> parts;

  /// Adds one query. `maps` are those that Transformer::inspect returns for the layer.
  void add(const std::vector<AttentionMap>& maps, size_t head, const Query&);
};

}  // namespace posbench
