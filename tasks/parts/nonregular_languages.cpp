#include "tasks/parts/nonregular_languages.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tasks/parts/language.h"

namespace posbench {
namespace {

constexpr int kNoSymbol = -1;

/// A language over bits in which every string is the prefix of a word.
class AnyPrefix : public Language {
 public:
  AnyPrefix() : Language({"0", "1"}) {}
  Followers followers(const Word& prefix) const final { return kBits | (contains(prefix) ? end() : 0); }
  std::vector<Followers> all_followers() const final { return {kBits, kBits | end()}; }

 private:
  static constexpr Followers kBits = 3;
};

/// Words with more ones than zeros. The number of ones is uniform.
class Majority final : public AnyPrefix {
 public:
  bool contains(const Word& word) const override { return edit_distance(word) == 0; }
  bool has_length(int length) const override { return length > 0; }
  Word draw(int length, Rng& rng) const override {
    Word word(length, 0);
    std::fill_n(word.begin(), uniform(rng, length / 2 + 1, length), 1);
    shuffle<int>(word, rng);
    return word;
  }
  /// An edit moves the lead of the ones by two at most, by replacing a zero.
  int edit_distance(const Word& word) const override {
    const int ones = std::accumulate(word.begin(), word.end(), 0), zeros = static_cast<int>(word.size()) - ones;
    return zeros < ones ? 0 : (zeros - ones + 2) / 2;
  }
};

/// Even palindromes: bits, then the same bits reversed.
class UnmarkedReversal final : public AnyPrefix {
 public:
  bool contains(const Word& word) const override {
    return word.size() % 2 == 0 && std::equal(word.begin(), word.end(), word.rbegin());
  }
  bool has_length(int length) const override { return length % 2 == 0; }
  Word draw(int length, Rng& rng) const override {
    Word word = uniform_tokens(rng, length / 2, 0, 1);
    for (int n = length / 2 - 1; n >= 0; --n) word.push_back(word[n]);
    return word;
  }
  int edit_distance(const Word& word) const override {
    const size_t length = word.size();
    // cost[first][last]: of the symbols first ... last - 1
    std::vector<std::vector<int>> cost(length + 1, std::vector<int>(length + 1, 0));
    for (size_t size = 1; size <= length; ++size) {
      for (size_t first = 0; first + size <= length; ++first) {
        const size_t last = first + size;
        int& fewest = cost[first][last];
        fewest = 1 + std::min(cost[first + 1][last], cost[first][last - 1]);
        if (size > 1) fewest = std::min(fewest, cost[first + 1][last - 1] + (word[first] != word[last - 1]));
      }
    }
    return cost[0][length];
  }
};

/// Bits twice, with a marker between them; or without one and with a single 1 of either copy replaced by a hole.
class Copies final : public Language {
 public:
  enum class Kind { marked, missing };
  explicit Copies(Kind kind) : Language({"0", "1", kind == Kind::marked ? "#" : "_"}), kind_(kind) {}

  bool contains(const Word& word) const override {
    if (!has_length(static_cast<int>(word.size())) || std::ranges::count(word, kOther) != 1) return false;
    Word both = word;
    const auto other = std::ranges::find(both, kOther);
    if (kind_ == Kind::missing) {
      *other = 1;
    } else if (other - both.begin() != std::ssize(both) / 2) {
      return false;
    } else {
      both.erase(other);
    }
    const auto middle = both.begin() + std::ssize(both) / 2;
    return std::equal(both.begin(), middle, middle);
  }

  bool has_length(int length) const override {
    return kind_ == Kind::marked ? length % 2 == 1 : length > 0 && length % 2 == 0;
  }

  Word draw(int length, Rng& rng) const override {
    Word word = uniform_tokens(rng, length / 2, 0, 1);
    if (kind_ == Kind::missing) word[uniform(rng, 0, length / 2 - 1)] = 1;
    const Word copy = word;
    if (kind_ == Kind::marked) word.push_back(kOther);
    word.insert(word.end(), copy.begin(), copy.end());
    if (kind_ == Kind::missing) {
      std::vector<int> ones;
      for (int n = 0; n < length; ++n) {
        if (word[n] == 1) ones.push_back(n);
      }
      word[ones[uniform(rng, 0, static_cast<int>(ones.size()) - 1)]] = kOther;
    }
    return word;
  }

  /// After a marker, the bits of the first copy follow in their order. Without one, any bit may follow, and a hole
  /// if there is none: both copies can be completed.
  Followers followers(const Word& prefix) const override {
    const auto other = std::ranges::find(prefix, kOther);
    if (other == prefix.end()) return kBits | kOtherBit;
    if (kind_ == Kind::missing) return kBits | (contains(prefix) ? end() : 0);
    const auto copied = prefix.end() - other - 1;
    return copied == other - prefix.begin() ? end() : 1U << prefix[static_cast<size_t>(copied)];
  }

  std::vector<Followers> all_followers() const override {
    if (kind_ == Kind::missing) return {kBits, kBits | kOtherBit, kBits | end()};
    return {1, 2, kBits | kOtherBit, end()};
  }

  int edit_distance(const Word& word) const override {
    int fewest = kManyEdits;
    for (auto split = word.begin();; ++split) {
      const Word first(word.begin(), split);
      if (kind_ == Kind::missing) {
        fewest = std::min(fewest, align(first, Word(split, word.end())));
      } else {
        fewest = std::min(fewest, 1 + align(first, Word(split, word.end())));  // inserts a marker
        if (split != word.end())
          fewest = std::min(fewest, (*split != kOther) + align(first, Word(split + 1, word.end())));
      }
      if (split == word.end()) return fewest;
    }
  }

 private:
  static constexpr int kOther = 2;  // the marker or the hole
  static constexpr Followers kBits = 3, kOtherBit = 4;

  /// Returns the fewest edits after which two symbols are a bit and its copy, or with `hole` a 1 and a hole.
  /// kNoSymbol is a symbol to insert, or one whose partner is deleted.
  static int cost_of(int a, int b, bool hole) {
    const auto cost = [](int symbol, int wanted) { return symbol == wanted ? 0 : 1; };
    if (hole) return std::min(cost(a, kOther) + cost(b, 1), cost(a, 1) + cost(b, kOther));
    if (a == kNoSymbol || b == kNoSymbol) return 1;
    return std::min(cost(a, 0) + cost(b, 0), cost(a, 1) + cost(b, 1));
  }

  /// Returns the fewest edits after which the second part is the copy of the first.
  int align(const Word& first, const Word& second) const {
    const int rows = static_cast<int>(first.size()), columns = static_cast<int>(second.size());
    // by the number of symbols of both parts, and whether a hole was made
    std::vector<std::vector<std::array<int, 2>>> cost(
        rows + 1, std::vector<std::array<int, 2>>(columns + 1, {kManyEdits, kManyEdits}));
    cost[0][0] = {0, cost_of(kNoSymbol, kNoSymbol, true)};
    for (int i = 0; i <= rows; ++i) {
      for (int j = 0; j <= columns; ++j) {
        for (const auto& [di, dj] : {std::pair{1, 1}, std::pair{1, 0}, std::pair{0, 1}}) {
          if (i < di || j < dj) continue;
          const std::array<int, 2>& before = cost[i - di][j - dj];
          const int a = di == 1 ? first[i - 1] : kNoSymbol, b = dj == 1 ? second[j - 1] : kNoSymbol;
          cost[i][j][0] = std::min(cost[i][j][0], before[0] + cost_of(a, b, false));
          cost[i][j][1] =
              std::min({cost[i][j][1], before[1] + cost_of(a, b, false), before[0] + cost_of(a, b, true)});
        }
        cost[i][j][1] = std::min(cost[i][j][1], cost[i][j][0] + cost_of(kNoSymbol, kNoSymbol, true));
      }
    }
    return cost[rows][columns][kind_ == Kind::missing ? 1 : 0];
  }

  Kind kind_;
};

}  // namespace

std::unique_ptr<Language> make_majority() { return std::make_unique<Majority>(); }

std::unique_ptr<Language> make_unmarked_reversal() { return std::make_unique<UnmarkedReversal>(); }

std::unique_ptr<Language> make_marked_copy() { return std::make_unique<Copies>(Copies::Kind::marked); }

std::unique_ptr<Language> make_missing_duplicate() { return std::make_unique<Copies>(Copies::Kind::missing); }

}  // namespace posbench
