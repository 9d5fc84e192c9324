// Describes a formal language: membership, random words of a length, the symbols that may follow a prefix, and the
// edit distance of any string to it.
#pragma once
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"

namespace posbench {

/// More edits than any string needs. Sums of two are still integers.
constexpr int kManyEdits = std::numeric_limits<int>::max() / 2;

using Word = std::vector<int>;  // the indices of its symbols
using Followers = unsigned;  // a set of symbols: bit n is symbol n, and the bit after the last symbol is the end

class Language {
 public:
  virtual ~Language() = default;
  /// Returns the texts of the symbols.
  const std::vector<std::string>& symbols() const { return symbols_; }
  virtual bool contains(const Word&) const = 0;
  /// Returns true if the language has words of this length.
  virtual bool has_length(int length) const = 0;
  /// Draws a word of this length, which the language must have.
  virtual Word draw(int length, Rng&) const = 0;
  /// Returns the symbols after which the prefix is still the prefix of a word, and the end if it is a word. The
  /// argument must be the prefix of a word.
  virtual Followers followers(const Word& prefix) const = 0;
  /// Returns the sets that followers() can return, ascending.
  virtual std::vector<Followers> all_followers() const = 0;
  /// Returns the least number of symbols to insert, replace or delete until the string is a word: 0 for a word.
  virtual int edit_distance(const Word&) const = 0;

 protected:
  Followers end() const { return 1U << symbols_.size(); }

  explicit Language(std::vector<std::string> symbols) : symbols_(std::move(symbols)) {}

 private:
  std::vector<std::string> symbols_;
};

}  // namespace posbench
