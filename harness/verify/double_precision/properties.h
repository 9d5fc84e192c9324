// The four properties that the literature requires of a position encoding, measured on one causal layer of attention
// in which all tokens are equal, so that only positions can make a difference. Parameters have their initial values
// (those that start as a constant are moved); queries and keys are random.
#pragma once
#include <string>

#include "encodings/registry.h"

namespace posbench {

struct Properties {
  int trained = 0, longest = 0;  // tokens: the trained length L, and 4 L

  /// Each position distinct: how many of the keys before the last query get attention that no other key gets.
  int distinct = 0, distinct_far = 0;  // among L keys, among 4 L

  /// Defined and in range beyond L: the number of parameter rows that a sequence of 4 L reads and sequences up to L
  /// do not; and by how much scores at 4 L exceed the largest up to L, as a fraction of their range. Lower scores
  /// count as in range. Scores are taken relative to that of the query's own token.
  int untrained_rows = 0;
  double growth = 0;
  bool finite = false;

  /// Dependent on relative position only: the largest change of a score if query and key are both one segment later,
  /// relative to the largest score. The first segment is left out, since it has no predecessor.
  bool positional = false;  // whether positions make a difference at all
  double moved = 0;

  /// Weaker with distance: the fraction of heads, over draws, whose attention decreases with distance; heads without
  /// any dependence on position do not count.
  double falling = 0;
};

Properties measure_properties(const Spec&);

/// One measurement in a word, and the word that the encoding states, for "as its base" that of the base. Words
/// after a comma or semicolon qualify it and are not compared.
struct PropertyWord {
  std::string property, measured, stated, expected;  // stated: from EncodingInfo; expected: its measurement
};
std::vector<PropertyWord> property_words(const Spec&, const Properties&);

}  // namespace posbench
