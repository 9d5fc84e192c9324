// Measures the four properties of position encodings that the literature asks for, on one causal layer of
// attention. All tokens are equal, so that only positions can make a difference. Parameters have their initial
// values, or random ones if all are equal.
#pragma once
#include <string>
#include <vector>

#include "encodings/registry.h"

namespace posbench {

struct Properties {
  int trained = 0, longest = 0;  // tokens: the trained length L, and 4 L

  /// Distinct positions: the number of keys before the last query whose attention no other key has.
  int distinct = 0, distinct_far = 0;  // among L keys, among 4 L

  /// Extrapolation: the number of parameter rows that a sequence of 4 L reads and sequences up to L do not, and
  /// how much scores at 4 L exceed the largest up to L, as a fraction of their range. Scores are relative to that
  /// of the query's own token, and lower scores count as in range.
  int untrained_rows = 0;
  double growth = 0;
  bool finite = false;

  /// Dependence on relative positions only: the largest change of a score if query and key are both one segment
  /// later, relative to the largest score. The first segment is not measured, since it has no predecessor.
  bool positional = false;  // true if positions make a difference at all
  double moved = 0;

  /// Decay with distance: the fraction of heads, over draws, whose attention decreases with distance. Heads whose
  /// attention does not depend on the position are not counted.
  double falling = 0;
};

Properties measure_properties(const Spec&);

/// One measurement as a word, and the word that the encoding states. Words after a comma or semicolon qualify the
/// stated word and are not compared.
struct PropertyWord {
  std::string property, measured;
  std::string stated;    // from EncodingInfo
  std::string expected;  // the measurement that fits the stated word, or that of the base for `as_base`
};
std::vector<PropertyWord> property_words(const Spec&, const Properties&);

}  // namespace posbench
