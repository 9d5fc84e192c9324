// Declares ids of keys and values, and the common parts of the recall tasks of MAD and Zoology.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/random.h"
#include "tasks/parts/examples.h"

namespace posbench {

/// The ids of a vocabulary: filler, then keys, values from the middle on, and noise beyond its end.
struct KeyValueIds {
  int vocabulary;
  int filler = 0;  // ids before the keys

  int first_value() const { return vocabulary / 2; }
  int keys() const { return first_value() - filler; }
  int values() const { return vocabulary - first_value(); }
  /// Returns "_", "k3", "v9" or "n17".
  std::string text(int token) const;
};

/// MAD replaces a pair by two noise ids with this probability.
struct Noise {
  double probability = 0;
  int vocabulary = 0;
};

/// Draws the in-context recall task of MAD: `pairs` pairs, some of them noise, except a uniform one and the last.
/// Keys are uniform; the last key is uniform among the keys before it. A key keeps the value of its first
/// occurrence. The values of keys seen before are scored; distances count tokens from the key back to its value.
/// Each pair is a segment.
Example recall(int pairs, const KeyValueIds&, const Noise&, Loss, Rng&);

/// Describes the option `power` of power_law_gaps().
void describe_power(OptionTable&, double& power);

/// Draws `count` distinct gaps out of 0 .. gaps - 1, one after the other, with probability proportional to
/// (gap + 1)^(power - 1). A small power favors near gaps; power=1 makes all gaps equally likely.
std::vector<int> power_law_gaps(Rng&, int gaps, int count, double power);

/// Throws InputError if a length is odd.
void require_even_lengths(const std::string& task, const Integers& lengths);

/// Scores every target of the example. `answer_positions` has the index of the token that holds the answer of each
/// position with a target. Sets segments of `segment_size` tokens, evidence and distances.
void score_targets(Example&, std::span<const int> answer_positions, int segment_size);

}  // namespace posbench
