#include "tasks/parts/languages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tasks/parts/examples.h"
#include "tasks/parts/language.h"
#include "tasks/parts/nonregular_languages.h"

namespace posbench {
namespace {

constexpr int kNoState = -1;

/// A deterministic automaton. State 0 is the first.
struct Automaton {
  std::vector<std::string> symbols;
  std::vector<std::vector<int>> next;  // for each state, the state after each symbol, or kNoState
  std::vector<bool> accepts;

  int add_state(bool accepting = false) {
    next.emplace_back(symbols.size(), kNoState);
    accepts.push_back(accepting);
    return static_cast<int>(next.size()) - 1;
  }
};

/// Returns the automaton with these states. Each lists the states after its symbols: letters from a on, '.' for
/// none.
Automaton automaton(std::vector<std::string> symbols, const std::vector<std::string>& states,
                    const std::string& accepting) {
  Automaton a{.symbols = std::move(symbols), .next = {}, .accepts = {}};
  for (size_t q = 0; q < states.size(); ++q) {
    const int state = a.add_state(accepting.find(static_cast<char>('a' + q)) != std::string::npos);
    for (size_t n = 0; n < states[q].size(); ++n)
      if (states[q][n] != '.') a.next[state][n] = states[q][n] - 'a';
  }
  return a;
}

/// Returns the automaton of moves on a cycle of five places, then the place where they end.
Automaton cycle_navigation() {
  Automaton a{.symbols = {"<", "=", ">", "0", "1", "2", "3", "4"}, .next = {}, .accepts = {}};
  for (int place = 0; place < 5; ++place) a.add_state();
  const int end = a.add_state(true);
  for (int place = 0; place < 5; ++place) {
    a.next[place][0] = (place + 4) % 5;
    a.next[place][1] = place;
    a.next[place][2] = (place + 1) % 5;
    a.next[place][3 + place] = end;
  }
  return a;
}

/// Returns the automaton of sums, differences and products modulo 5 from left to right, then = and the value.
Automaton modular_arithmetic() {
  constexpr int kPlus = 5, kMinus = 6, kTimes = 7, kEquals = 8;
  Automaton a{.symbols = {"0", "1", "2", "3", "4", "+", "-", "*", "="}, .next = {}, .accepts = {}};
  const int start = a.add_state();
  std::array<int, 5> values{};
  for (int& state : values) state = a.add_state();
  const int end = a.add_state(true);
  for (int value = 0; value < 5; ++value) {
    a.next[start][value] = values[value];
    for (const int sign : {kPlus, kMinus, kTimes}) {
      const int state = a.next[values[value]][sign] = a.add_state();
      for (int x = 0; x < 5; ++x) {
        const int result = sign == kPlus ? value + x : sign == kMinus ? value - x + 5 : value * x;
        a.next[state][x] = values[result % 5];
      }
    }
    const int equals = a.next[values[value]][kEquals] = a.add_state();
    a.next[equals][value] = end;
  }
  return a;
}

/// Adds the states in which `depth` more brackets may open after this one.
void add_brackets(Automaton& a, int state, int types, int depth) {
  if (depth == 0) return;
  for (int type = 0; type < types; ++type) {
    const int open = a.add_state();
    a.next[state][type] = open;
    a.next[open][types + type] = state;
    add_brackets(a, open, types, depth - 1);
  }
}

Automaton dyck(int types, int depth) {
  Automaton a;
  for (const char bracket : {'(', ')'}) {
    for (int type = 0; type < types; ++type) a.symbols.push_back(fmt::format("{}{}", bracket, type));
  }
  add_brackets(a, a.add_state(true), types, depth);
  return a;
}

class RegularLanguage final : public Language {
 public:
  RegularLanguage(Automaton a, int longest) : Language(a.symbols), a_(std::move(a)) {
    // remaining_[n][q] is proportional to the probability that a walk from state q, which takes each symbol and
    // ends with equal probability, ends after n symbols.
    const size_t states = a_.next.size();
    for (int n = 0; n <= longest; ++n) {
      std::vector<double> row(states, 0.0);
      for (size_t q = 0; q < states; ++q) {
        double sum = n == 0 && a_.accepts[q] ? 1 : 0;
        for (const int next : a_.next[q]) {
          if (n > 0 && next != kNoState) sum += remaining_[n - 1][next];
        }
        const auto ways = std::ranges::count_if(a_.next[q], [](int next) { return next != kNoState; });
        row[q] = sum / static_cast<double>(ways + (a_.accepts[q] ? 1 : 0));
      }
      const double largest = std::ranges::max(row);
      for (double& p : row) p /= largest > 0 ? largest : 1;
      remaining_.push_back(std::move(row));
    }
  }

  bool contains(const Word& word) const override {
    int state = 0;
    for (const int symbol : word) {
      state = a_.next[state][symbol];
      if (state == kNoState) return false;
    }
    return a_.accepts[state];
  }

  bool has_length(int length) const override { return remaining_.at(length)[0] > 0; }

  Word draw(int length, Rng& rng) const override {
    Word word;
    int state = 0;
    for (int left = length - 1; left >= 0; --left) {
      const std::vector<int>& next = a_.next[state];
      const int symbol = draw_by_weight(rng, static_cast<int>(next.size()), [&](int n) {
        return next[n] == kNoState ? 0.0 : remaining_[left][next[n]];
      });
      word.push_back(symbol);
      state = next[symbol];
    }
    return word;
  }

  Followers followers(const Word& prefix) const override {
    int state = 0;
    for (const int symbol : prefix) state = a_.next[state][symbol];
    return followers_of(state);
  }

  std::vector<Followers> all_followers() const override {
    std::set<Followers> all;
    for (size_t q = 0; q < a_.next.size(); ++q) all.insert(followers_of(static_cast<int>(q)));
    return {all.begin(), all.end()};
  }

  int edit_distance(const Word& word) const override {
    std::vector<int> cost(a_.next.size(),
                          kManyEdits);  // the fewest edits of what was read that lead to each state
    cost[0] = 0;
    insert_symbols(cost);
    for (const int symbol : word) {
      std::vector<int> after(cost.size(), kManyEdits);
      for (size_t q = 0; q < cost.size(); ++q) {
        after[q] = std::min(after[q], cost[q] + 1);  // deletes the symbol
        for (size_t n = 0; n < a_.next[q].size(); ++n) {
          const int next = a_.next[q][n];
          if (next != kNoState) after[next] = std::min(after[next], cost[q] + (static_cast<int>(n) != symbol));
        }
      }
      insert_symbols(after);
      cost = std::move(after);
    }
    int fewest = kManyEdits;
    for (size_t q = 0; q < cost.size(); ++q) fewest = a_.accepts[q] ? std::min(fewest, cost[q]) : fewest;
    return fewest;
  }

 private:
  /// A word can be completed from every state, so each symbol with a next state may follow.
  Followers followers_of(int state) const {
    Followers set = a_.accepts[state] ? end() : 0;
    for (size_t n = 0; n < a_.next[state].size(); ++n) set |= a_.next[state][n] == kNoState ? 0U : 1U << n;
    return set;
  }

  void insert_symbols(std::vector<int>& cost) const {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t q = 0; q < cost.size(); ++q) {
        for (const int next : a_.next[q]) {
          if (next == kNoState || cost[next] <= cost[q] + 1) continue;
          cost[next] = cost[q] + 1;
          changed = true;
        }
      }
    }
  }

  Automaton a_;
  std::vector<std::vector<double>> remaining_;
};

using MakeLanguage = std::unique_ptr<Language> (*)(int longest);

std::unique_ptr<Language> regular(Automaton a, int longest) {
  return std::make_unique<RegularLanguage>(std::move(a), longest);
}
std::unique_ptr<Language> regular_bits(const std::vector<std::string>& states, const std::string& accepting,
                                       int longest) {
  return regular(automaton({"0", "1"}, states, accepting), longest);
}

struct NamedLanguage {
  std::string name;
  MakeLanguage make;
};

const std::vector<NamedLanguage>& languages() {
  static const std::vector<NamedLanguage> all{
      // no symbol three times in a row
      {"no_triples",
       [](int longest) {
         return regular_bits({"bc", "dc", "be", ".c", "b."}, "abcde", longest);
       }},
      // as many pairs 01 as 10: the first symbol is the last
      {"even_pairs",
       [](int longest) {
         return regular_bits({"bc", "bd", "ec", "bd", "ec"}, "abc", longest);
       }},
      // (01)*
      {"repeat_01",
       [](int longest) {
         return regular_bits({"b.", ".a"}, "a", longest);
       }},
      // an odd number of ones
      {"parity",
       [](int longest) {
         return regular_bits({"ab", "ba"}, "b", longest);
       }},
      // a one first
      {"first",
       [](int longest) {
         return regular_bits({".b", "bb"}, "b", longest);
       }},
      {"cycle_navigation", [](int longest) { return regular(cycle_navigation(), longest); }},
      {"modular_arithmetic", [](int longest) { return regular(modular_arithmetic(), longest); }},
      {"dyck_2_3", [](int longest) { return regular(dyck(2, 3), longest); }},
      {"majority", [](int) { return make_majority(); }},
      {"unmarked_reversal", [](int) { return make_unmarked_reversal(); }},
      {"marked_copy", [](int) { return make_marked_copy(); }},
      {"missing_duplicate", [](int) { return make_missing_duplicate(); }}};
  return all;
}

}  // namespace

const std::vector<std::string>& language_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const NamedLanguage& language : languages()) all.push_back(language.name);
    return all;
  }();
  return names;
}

std::unique_ptr<Language> make_language(int index, int longest) {
  return languages().at(static_cast<size_t>(index)).make(longest);
}

}  // namespace posbench
