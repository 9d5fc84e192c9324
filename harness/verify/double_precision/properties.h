// The four properties that the literature asks of a position encoding, measured on one layer of attention in which
// all tokens are equal, so that positions alone can make a difference: parameters at their initial values (those
// that start as a constant are moved), random queries and keys, causal.
#pragma once
#include <string>

#include "encodings/registry.h"

namespace posbench {

struct Properties {
  int trained = 0, longest = 0;  // tokens: the trained length L, and 4 L

  /// Each position distinct: how many of the keys before the last query get attention that no other key gets.
  int distinct = 0, distinct_far = 0;  // among L keys, among 4 L

  /// Defined and in range beyond L: rows of parameters that sequences up to L never reach and one of 4 L does; and
  /// by how much, of the range of scores up to L, those of 4 L exceed it upwards. What falls stays in
  /// range. Scores are taken relative to the query's own token.
  int untrained_rows = 0;
  double growth = 0;
  bool finite = false;

  /// Dependent on relative position only: the most that scores change where query and key both stand one segment
  /// of tokens farther on, relative to the largest. The first segment is left out, since a sequence must start.
  bool positional = false;  // whether positions make a difference at all
  double moved = 0;

  /// Weaker with distance: the fraction of heads, over draws, whose attention falls along the distance; those that
  /// no position moves do not count.
  double falling = 0;
};

Properties measure_properties(const Spec&);

/// One measurement in a word, and the one that the encoding's taxonomy states, "as its base" looked up. Words
/// after a comma or semicolon qualify it and are not compared.
struct PropertyWord {
  std::string property, measured, stated, expected;  // stated: as EncodingInfo says it; expected: what that means
};
std::vector<PropertyWord> property_words(const Spec&, const Properties&);

}  // namespace posbench
