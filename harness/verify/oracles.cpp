#include "harness/verify/oracles.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "harness/verify/schoolbook.h"

namespace posbench {
namespace {

/// The tokens before the first scored position: the question of a task with one answer.
Tokens question(const Example& e) { return {e.tokens.begin(), e.tokens.begin() + e.scored.front()}; }

int count(const Tokens& tokens, int token) {
  return static_cast<int>(std::count(tokens.begin(), tokens.end(), token));
}

Tokens without(int token, Tokens tokens) {
  std::erase(tokens, token);
  return tokens;
}

Tokens reversed(Tokens tokens) { return {tokens.rbegin(), tokens.rend()}; }

Tokens joined(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The numbers before and after the first `sign`; the second is empty if there is no sign.
std::pair<Tokens, Tokens> operands(int sign, const Tokens& tokens) {
  const auto found = std::find(tokens.begin(), tokens.end(), sign);
  if (found == tokens.end()) return {tokens, {}};
  return {Tokens(tokens.begin(), found), Tokens(found + 1, tokens.end())};
}

/// The value modulo 5 of an expression whose token t is written signs[t], by two stacks (Dijkstra's shunting
/// yard). A minus without a number before it is a unary minus, written ~ on the stack.
int evaluate(const Tokens& tokens, const std::string& signs) {
  std::vector<int> values;
  std::string pending;
  const auto apply = [&] {
    const char sign = pending.back();
    const int right = values.back();
    pending.pop_back();
    values.pop_back();
    if (sign == '~') return values.push_back((5 - right) % 5);
    int& left = values.back();
    left = (sign == '+' ? left + right : sign == '-' ? left + 5 - right : left * right) % 5;
  };
  const auto binds = [](char sign) { return sign == '(' ? 0 : sign == '~' ? 3 : sign == '*' ? 2 : 1; };
  bool number_before = false;
  for (const int token : tokens) {
    const char sign = signs[token];
    if (sign >= '0' && sign <= '4') {
      values.push_back(sign - '0');
    } else if (sign == '(') {
      pending.push_back(sign);
    } else if (sign == ')') {
      while (pending.back() != '(') apply();
      pending.pop_back();
    } else if (sign == '-' && !number_before) {
      pending.push_back('~');
    } else {
      while (!pending.empty() && binds(pending.back()) >= binds(sign)) apply();
      pending.push_back(sign);
    }
    number_before = sign == ')' || (sign >= '0' && sign <= '4');
  }
  while (!pending.empty()) apply();
  return values.at(0);
}

/// All permutations of `points` points, or those with an even number of cycles of even length, in lexicographic
/// order.
std::vector<Tokens> permutations_of(int points, bool even_only) {
  std::vector<Tokens> result;
  const int units = static_cast<int>(std::lround(std::pow(10, points - 1)));
  for (int code = 0; code < 10 * units; ++code) {
    Tokens p;
    for (int unit = units; unit > 0; unit /= 10) p.push_back(code / unit % 10);
    if (*std::max_element(p.begin(), p.end()) >= points) continue;
    if (static_cast<int>(std::set<int>(p.begin(), p.end()).size()) < points) continue;
    int even_cycles = 0;
    std::set<int> seen;
    for (int start = 0; start < points; ++start) {
      int length = 0;
      for (int i = start; seen.insert(i).second; i = p[i]) ++length;
      even_cycles += length > 0 && length % 2 == 0;
    }
    if (!even_only || even_cycles % 2 == 0) result.push_back(p);
  }
  return result;
}

/// The value of ListOps tokens, by a stack of lists. ids: digits, then the operations, then the closing bracket.
int evaluate_lists(const Tokens& tokens) {
  std::vector<Tokens> lists{{}};  // the operation, then its arguments; the first list is the whole
  for (const int token : tokens) {
    if (token < 10) {
      lists.back().push_back(token);
    } else if (token < 14) {
      lists.push_back({token});
    } else {
      const int operation = lists.back().front();
      Tokens list(lists.back().begin() + 1, lists.back().end());
      lists.pop_back();
      std::sort(list.begin(), list.end());
      const size_t n = list.size();
      lists.back().push_back(operation == 10   ? list[0]
                             : operation == 11 ? list[n - 1]
                             : operation == 12 ? (list[(n - 1) / 2] + list[n / 2]) / 2
                                               : std::accumulate(list.begin(), list.end(), 0) % 10);
    }
  }
  return lists.front().at(0);
}

/// What each scored position showed at its previous visit, if the world is of this size; empty if the scored
/// positions do not fit such a world.
Tokens seen_before(const Example& e, int size) {
  std::map<std::pair<int, int>, int> shown;
  std::pair<int, int> position{0, 0};
  Tokens answers, scored;
  for (size_t t = 0; t < e.tokens.size(); t += 2) {
    int& coordinate = e.tokens[t] < 2 ? position.first : position.second;
    coordinate = (coordinate + (e.tokens[t] % 2 == 0 ? 1 : size - 1)) % size;
    if (shown.count(position) > 0) {
      scored.push_back(static_cast<int>(t));
      answers.push_back(shown[position]);
    }
    shown[position] = t + 1 < e.tokens.size() ? e.tokens[t + 1] : 0;
  }
  return scored == e.scored ? answers : Tokens{};
}

/// For each scored key, the value that followed its last occurrence. Keys are at even positions.
Tokens latest_values(const Example& e) {
  Tokens values;
  for (const int t : e.scored) {
    int before = t - 2;
    while (e.tokens[before] != e.tokens[t]) before -= 2;
    values.push_back(e.tokens[before + 1]);
  }
  return values;
}

}  // namespace

bool Oracle::states(const Spec& spec, const TaskInfo& info) const {
  std::set<std::string> known(also_.begin(), also_.end());
  known.insert("length");
  for (const TaskInfo::Split& split : info.splits) {
    for (const auto& [option, value] : split.options) known.insert(option);
  }
  return std::all_of(spec.options.begin(), spec.options.end(),
                     [&](const auto& option) { return known.count(option.first) > 0; });
}

static std::map<std::string, Oracle>& all_oracles() {
  static std::map<std::string, Oracle> rows{
      {"addition",
       [](const Example& e) {  // both numbers and the sum are written least significant digit first
         const auto [a, b] = operands(10, question(e));
         return joined(schoolbook::sum(a, b, 10), {11});
       }},
      {"binary_addition",
       [](const Example& e) {
         const auto [a, b] = operands(2, question(e));
         return joined(schoolbook::sum(a, b, 2), {2});
       }},
      {"binary_multiplication",
       [](const Example& e) {
         const Tokens tokens = question(e);
         if (tokens.size() == 1) return Tokens{2};
         const auto [a, b] = operands(2, tokens);
         return joined(schoolbook::product(a, b, 2), {2});
       }},
      {"bucket_sort",
       [](const Example& e) {
         Tokens sorted;
         for (int digit = 0; digit < 5; ++digit) sorted.resize(sorted.size() + count(question(e), digit), digit);
         return sorted;
       }},
      {"common_words",
       {[](const Example& e) {
          const Tokens list = question(e);
          Tokens common;
          for (const int word : std::set<int>(list.begin(), list.end())) {
            if (count(list, word) > 1) common.push_back(word);
          }
          return common;
        },
        {"common", "symbols"}}},
      {"compositional_mqar",
       {[](const Example& e) {
          Tokens values;
          for (const int t : e.scored) {
            const auto pair =
                std::search(e.tokens.begin(), e.tokens.end(), e.tokens.begin() + t - 1, e.tokens.begin() + t + 1);
            values.push_back(pair[2]);
          }
          return values;
        },
        {"vocabulary", "power"}}},
      {"compute_sqrt",
       [](const Example& e) {
         Tokens root = schoolbook::square_root(reversed(question(e)));
         root.resize((question(e).size() + 1) / 2, 0);
         return reversed(root);
       }},
      {"copy", {[](const Example& e) { return joined(question(e), {e.tokens[e.scored.front()]}); }, {"symbols"}}},
      {"count_word_last_sentence",
       {[](const Example& e) {  // ids: words, full stop, question mark, counts; it ends in ". ? word"
          const int queried = e.tokens.back(), stop = e.tokens.end()[-2] - 1;
          const auto last_stop = e.tokens.end() - 3;
          const auto sentence = std::find(std::make_reverse_iterator(last_stop), e.tokens.rend(), stop).base();
          return Tokens{stop + 2 + static_cast<int>(std::count(sentence, last_stop, queried))};
        },
        {"lexicon", "largest", "distractors"}}},
      {"counting",
       {[](const Example& e) {  // the variables' ids come first, then those of = ; ++; pass; print 0 1 ...
          const int queried = e.tokens.back(), variables = e.tokens.end()[-2] - 4;
          const int equals = variables, increment = variables + 2, zero = variables + 5;
          int increments = 0;
          for (size_t t = e.tokens.size() - 3; e.tokens[t] != queried || e.tokens[t + 1] != equals; --t) {
            increments += e.tokens[t] == queried && e.tokens[t + 1] == increment;
          }
          return Tokens{zero + increments};
        },
        {"variables", "maximum", "set", "pass", "increment"}}},
      {"cumulative_majority",
       [](const Example& e) {
         Tokens answers;
         for (const int t : e.scored) {
           answers.push_back(2 * std::count(e.tokens.begin(), e.tokens.begin() + t + 1, 1) >= t + 1);
         }
         return answers;
       }},
      {"cumulative_parity",
       [](const Example& e) {
         Tokens answers;
         for (const int t : e.scored) {
           answers.push_back(static_cast<int>(std::count(e.tokens.begin(), e.tokens.begin() + t + 1, 1) % 2));
         }
         return answers;
       }},
      {"cycle_navigation",
       [](const Example& e) {
         int position = 0;
         for (const int step : question(e)) {
           if (step == 0) position = position == 0 ? 4 : position - 1;
           if (step == 2) position = position == 4 ? 0 : position + 1;
         }
         return Tokens{position};
       }},
      {"duplicate_string", [](const Example& e) { return joined(question(e), question(e)); }},
      {"dyck",
       {[](const Example& e) {
          constexpr int kTypes = 8;
          Tokens closing;
          for (const int t : e.scored) {  // the nearest opening bracket that is not closed up to t
            int opened = t;
            for (int closed = 0; e.tokens[opened] >= kTypes || closed > 0; --opened) {
              closed += e.tokens[opened] >= kTypes ? 1 : -1;
            }
            closing.push_back(kTypes + e.tokens[opened]);
          }
          return closing;
        },
        {"loss"}}},
      {"even_pairs",
       [](const Example& e) {
         const Tokens bits = question(e);
         int unequal = 0;
         for (size_t i = 1; i < bits.size(); ++i) unequal += bits[i] != bits[i - 1];
         return Tokens{unequal % 2};
       }},
      {"flip_flop",
       {[](const Example& e) {
          Tokens bits;
          for (const int t : e.scored) {
            int write = t;
            while (e.tokens[write] != 0) write -= 2;
            bits.push_back(e.tokens[write + 1]);
          }
          return bits;
        },
        {"loss"}}},
      {"forgetting_mqar",
       {[](const Example& e) {
          Tokens values;
          for (const int t : e.scored) {
            int before = t - 2;
            while (e.tokens[before] != e.tokens[t]) before -= 2;
            values.push_back(e.tokens[before + 1]);
          }
          return values;
        },
        {"vocabulary", "power"}}},
      {"frequent_words",
       {[](const Example& e) {
          const Tokens text = without(e.tokens[e.scored.front()] - 1, question(e));
          Tokens answer;
          for (int times = static_cast<int>(text.size()); answer.size() < e.scored.size(); --times) {
            for (const int word : std::set<int>(text.begin(), text.end())) {
              if (count(text, word) == times) answer.push_back(word);
            }
          }
          return answer;
        },
        {"symbols"}}},
      {"grammar",
       {[](const Example& e) {  // of 8 nouns and one verb, in both numbers: 1 to 16, 17 and 18
          Tokens next;
          int subject = e.tokens.front(), t = 0;
          for (const int at : e.scored) {
            for (; t <= at; ++t) {
              if (t > 0 && e.tokens[t - 1] == 0) subject = e.tokens[t];
            }
            const int following = e.tokens[at + 1];
            next.push_back(following != 17 && following != 18 ? following : subject % 2 == 1 ? 17 : 18);
          }
          return next;
        },
        {"scored"}}},
      {"group_word",
       [](const Example& e) {  // for a5 and s3 to s5: follows each point
         static const std::map<int, std::vector<Tokens>> groups{{60, permutations_of(5, true)},
                                                                {6, permutations_of(3, false)},
                                                                {24, permutations_of(4, false)},
                                                                {120, permutations_of(5, false)}};
         const std::vector<Tokens>& elements = groups.at(e.tokens.front());
         Tokens products, where = elements.front();
         for (size_t t = 1; t < e.tokens.size(); ++t) {
           for (int& point : where) point = elements.at(e.tokens[t])[point];
           const auto product = std::find(elements.begin(), elements.end(), where);
           products.push_back(static_cast<int>(product - elements.begin()));
         }
         return products;
       }},
      {"index_hint_addition",
       [](const Example& e) {  // for the default options: ids up to 12 are no hints
         const auto [a, b] = operands(10, question(e));
         Tokens digits[2], hints;
         for (const int token : a) (token < 13 ? digits[0] : hints).push_back(token);
         for (const int token : b) {
           if (token < 13) digits[1].push_back(token);
         }
         Tokens sum = schoolbook::sum(schoolbook::trimmed(reversed(digits[0])),
                                      schoolbook::trimmed(reversed(digits[1])), 10);
         sum.resize(hints.size(), 0);
         Tokens answer;
         for (size_t n = 0; n < sum.size(); ++n) answer = joined(answer, {hints[hints.size() - 1 - n], sum[n]});
         return joined(answer, {12});
       }},
      {"index_hint_parity",
       [](const Example& e) {  // for the default options: a hint before every bit
         const Tokens tokens = question(e);
         Tokens steps;
         for (size_t t = 1; t < tokens.size(); t += 2) {
           const Tokens read(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(t) + 1);
           if (tokens[t] == 1) steps = joined(steps, {tokens[t - 1], count(read, 1) % 2});
         }
         return joined(steps, {3});
       }},
      {"index_retrieval",
       {[](const Example& e) {
          constexpr int kLetters = 52;
          Tokens items = question(e);
          const int given = items.back(), anchor = items.end()[-2], end = e.tokens[e.scored.front()] - 1;
          items.resize(items.size() - 2);
          if (anchor == end) items = reversed(items);
          if (given >= kLetters) return Tokens{items.at(given - kLetters)};
          return Tokens{kLetters + static_cast<int>(std::find(items.begin(), items.end(), given) - items.begin())};
        },
        {"farthest", "query"}}},
      {"indirect_indexing",
       [](const Example& e) {  // ids: letters, ten digits, comma, plus, minus
         const auto [string, rest] = operands(62, question(e));
         int shift = 0;
         for (size_t t = 3; t < rest.size(); ++t) shift = 10 * shift + rest[t] - 52;
         const auto source = std::find(string.begin(), string.end(), rest[0]);
         return Tokens{source[rest[2] == 64 ? -shift : shift]};
       }},
      {"induction_heads",
       {[](const Example& e) {
          const auto first_trigger = std::find(e.tokens.begin(), e.tokens.end(), e.tokens.back());
          return Tokens{first_trigger[1]};
        },
        {"vocabulary"}}},
      {"induction_repeat",
       {[](const Example& e) {
          const size_t block = (e.tokens.size() + 1) / 2;
          return Tokens(e.tokens.begin() + 1, e.tokens.begin() + block);
        },
        {"vocabulary", "loss"}}},
      {"interleaved_majority",
       {[](const Example& e) {
          const Tokens bits = question(e);
          const size_t strings = e.scored.size();
          Tokens majorities;
          for (size_t first = 0; first < strings; ++first) {
            int lead = 0;
            for (size_t t = first; t < bits.size(); t += strings) lead += 2 * bits[t] - 1;
            majorities.push_back(lead > 0);
          }
          return majorities;
        },
        {"strings"}}},
      {"ith_last_sentence",
       {[](const Example& e) {
          constexpr int kFillers = 8;
          const int stop = e.tokens.end()[-2];
          int sentences = e.tokens.back() - stop;  // full stops from the end back to the queried sentence
          size_t t = e.tokens.size() - 1;
          while (sentences > 0) sentences -= e.tokens[--t] == stop;
          while (e.tokens[--t] < kFillers) continue;
          return Tokens{e.tokens[t]};
        },
        {"topics", "farthest"}}},
      {"ith_word",
       {[](const Example& e) {
          constexpr int kNoun = 8, kIndex = 24;
          const Tokens sentence = question(e);
          int left = sentence.back() - kIndex;  // nouns before the queried one
          size_t t = 0;
          for (; sentence[t] < kNoun || left > 0; ++t) left -= sentence[t] >= kNoun;
          return Tokens{sentence[t]};
        },
        {"farthest"}}},
      {"k_hop",
       {[](const Example& e) {  // the paper's definition, with ~ = 4
          constexpr int kNothing = 4;
          const auto find = [&](int i) {
            int j = i;
            while (j > 1 && e.tokens[j - 1] != e.tokens[i]) --j;
            return j > 1 ? j : 0;
          };
          Tokens answers;
          for (int i : e.scored) {
            for (int hop = e.tokens[0] - kNothing; hop > 0 && i > 0; --hop) i = find(i);
            answers.push_back(i == 0 ? kNothing : e.tokens[i]);
          }
          return answers;
        },
        {"hops"}}},
      {"last_x_retrieval",
       {[](const Example& e) {
          const Tokens items = question(e);
          for (size_t i = items.size(); i >= 2; i -= 2) {
            if (items[i - 2] == 1) return Tokens{items[i - 1]};
          }
          return Tokens{};
        },
        {"rho", "payloads"}}},
      {"lego",
       {[](const Example& e) {
          const Tokens tokens = question(e);
          int variable = tokens.back();
          bool negative = false;
          while (variable != 28) {  // the number 1, at the start of the chain
            size_t clause = 0;
            while (tokens[clause] != variable) clause += 4;
            negative ^= tokens[clause + 1] == 27;
            variable = tokens[clause + 2];
          }
          return Tokens{negative ? 27 : 26};
        },
        {"shuffled"}}},
      {"listops", {[](const Example& e) { return Tokens{evaluate_lists(question(e))}; }, {"depth"}}},
      {"local_count",
       [](const Example& e) {  // counts follow the 16 tokens
         Tokens counts;
         for (const int t : e.scored) {
           int start = t;
           while (start > 0 && e.tokens[start - 1] == e.tokens[t]) --start;
           counts.push_back(16 + t - start);
         }
         return counts;
       }},
      {"mad_fuzzy_in_context_recall",
       {[](const Example& e) {
          constexpr int kKeys = 7;
          Tokens answers;
          std::vector<std::pair<Tokens, Tokens>> pairs{{}};  // the tokens read, split where a key follows a value
          for (int t = 0; t <= e.scored.back(); ++t) {
            const bool is_key = e.tokens[t] < kKeys;
            if (is_key && !pairs.back().second.empty()) pairs.emplace_back();
            (is_key ? pairs.back().first : pairs.back().second).push_back(e.tokens[t]);
            if (e.scored[answers.size()] != t) continue;
            const auto& [key, value] = pairs.back();
            const auto same_key = [key = key](const auto& pair) { return pair.first == key; };
            answers.push_back(std::find_if(pairs.begin(), pairs.end(), same_key)->second.at(value.size()));
          }
          return answers;
        },
        {"loss"}}},
      {"mad_in_context_recall", {latest_values, {"vocabulary", "loss"}}},
      {"mad_memorization",
       [](const Example& e) {  // 127 keys; only the mapping itself has the answers
         Tokens values(128);
         std::iota(values.begin(), values.end(), 127);
         Rng rng = stream(12345, "mad_memorization");
         shuffle(std::span(values), rng);
         Tokens answers;
         for (const int t : e.scored) answers.push_back(values.at(e.tokens[t - 1]));
         return answers;
       }},
      {"mad_noisy_in_context_recall", {latest_values, {"vocabulary", "noise_vocabulary", "loss"}}},
      {"mad_selective_copying",
       {[](const Example& e) {
          const int blank = e.tokens.back(), marker = blank + 1;
          return without(marker, without(blank, question(e)));
        },
        {"tokens"}}},
      {"majority",
       {[](const Example& e) {
          std::map<int, int> counts;
          for (const int token : question(e)) ++counts[token];
          std::vector<std::pair<int, int>> by_count;
          for (const auto& [token, times] : counts) by_count.emplace_back(times, token);
          return Tokens{std::max_element(by_count.begin(), by_count.end())->second};
        },
        {"symbols"}}},
      {"missing_duplicate_string",
       [](const Example& e) {
         const Tokens bits = without(3, question(e));
         const size_t hidden = std::find(bits.begin(), bits.end(), 2) - bits.begin();
         return Tokens{hidden == bits.size() ? 1 : bits[(hidden + bits.size() / 2) % bits.size()]};
       }},
      {"modular_arithmetic",
       {[](const Example& e) { return Tokens{evaluate(question(e), "01234+-*")}; }, {"even"}}},
      {"modular_arithmetic_brackets",
       [](const Example& e) { return Tokens{evaluate(question(e), "01234+-*()")}; }},
      {"mqar",
       {[](const Example& e) {
          Tokens values;
          for (const int t : e.scored) {
            values.push_back(*(std::find(e.tokens.begin(), e.tokens.end(), e.tokens[t]) + 1));
          }
          return values;
        },
        {"vocabulary", "power", "filler"}}},
      {"mqmtar",
       {[](const Example& e) {  // ids: space, pair, query, blank
          const auto [context, queries] = operands(2, question(e));
          Tokens values, key;
          for (const int token : joined(queries, {2})) {
            if (token != 2) {
              key.push_back(token);
              continue;
            }
            key.push_back(1);
            auto value = std::search(context.begin(), context.end(), key.begin(), key.end());
            value += static_cast<std::ptrdiff_t>(key.size());
            for (; *value != 0; ++value) values.push_back(*value);
            key.clear();
          }
          return values;
        },
        {"queries", "key", "value", "alphabet"}}},
      {"n_back",
       {[](const Example& e) {
          Tokens answers(e.tokens.begin(), e.tokens.end() - 2);
          return answers;
        },
        {"symbols"}}},
      {"navigation_2d",
       {[](const Example& e) {  // if both world sizes fit, the larger one is no less informative
          const Tokens answers = seen_before(e, 16);
          return answers.empty() ? seen_before(e, 8) : answers;
        },
        {"walk", "objects"}}},
      {"ngram_lookup",
       {[](const Example& e) {
          const auto [string, key] = operands(e.tokens[e.scored.front()] - 1, question(e));
          const auto found = std::search(string.begin(), string.end(), key.begin(), key.end());
          const auto answer = found + static_cast<std::ptrdiff_t>(key.size());
          return Tokens(answer, answer + static_cast<std::ptrdiff_t>(e.scored.size()));
        },
        {"key", "answer", "symbols"}}},
      {"odds_first",
       [](const Example& e) {
         Tokens even, odd;
         for (const int bit : question(e)) {
           even.push_back(bit);
           std::swap(even, odd);
         }
         return question(e).size() % 2 == 0 ? joined(odd, even) : joined(even, odd);
       }},
      {"parity_check", [](const Example& e) { return Tokens{count(question(e), 1) % 2}; }},
      {"path_star",
       {[](const Example& e) {
          const int bar = e.tokens[e.scored.front()] - 2;
          const auto [edges, query] = operands(bar + 1, question(e));
          std::map<int, int> before;
          for (size_t t = 0; t < edges.size(); t += 3) before[edges[t + 1]] = edges[t];
          Tokens path{query[1]};
          while (path.back() != query[0]) path.push_back(before.at(path.back()));
          return reversed(path);
        },
        {"nodes"}}},
      {"polynomial",
       [](const Example& e) {  // collects like terms, then Horner
         const auto number = [](int id) { return id < 10 ? id : 9 - id; };
         const Tokens tokens = question(e);
         int coefficients[4] = {}, value = 0;
         for (size_t t = 2; t < tokens.size(); t += 4) coefficients[tokens[t + 3]] += number(tokens[t + 1]);
         for (int exponent = 3; exponent >= 0; --exponent) {
           value = value * number(tokens[1]) + coefficients[exponent];
         }
         return Tokens{(value % 10 + 10) % 10};
       }},
      {"posgen",
       [](const Example& e) {  // form=recurrent, sums of four: consecutive sums differ by their ends
         Tokens answers;
         for (const int t : e.scored) {
           const int next = t < 4 ? std::accumulate(e.tokens.begin(), e.tokens.begin() + 4, 0)
                                  : 2 * e.tokens[t] - e.tokens[t - 4] + 17;
           answers.push_back(next % 17);
         }
         return answers;
       }},
      {"repeat_copy", [](const Example& e) { return joined(question(e), {2}); }},
      {"reverse",
       {[](const Example& e) { return joined(reversed(question(e)), {e.tokens[e.scored.front()]}); },
        {"symbols"}}},
      {"reverse_string",
       [](const Example& e) {
         Tokens answer = question(e);
         for (size_t i = 0, j = answer.size(); i + 1 < j; ++i) std::swap(answer[i], answer[--j]);
         return answer;
       }},
      {"selective_copy",
       {[](const Example& e) {
          const int separator = e.tokens[e.scored.front()], blank = separator - 1;
          return without(blank, question(e));
        },
        {"tokens"}}},
      {"selective_copy_mamba", {[](const Example& e) { return without(0, question(e)); }, {"tokens"}}},
      {"solve_equation",
       [](const Example& e) {  // tries all digits
         const auto [expression, value] = operands(10, question(e));
         if (value.empty()) return Tokens{0};
         Tokens solutions;
         for (int x = 0; x < 5; ++x) {
           Tokens tried = expression;
           std::replace(tried.begin(), tried.end(), 9, x);
           if (evaluate(tried, "01234+-()") == value.at(0)) solutions.push_back(x);
         }
         return solutions;  // exactly one, or the test fails
       }},
      {"sorting",
       {[](const Example& e) {
          const int equals = e.tokens[e.scored.front()];
          Tokens sorted;
          for (int item = 0; item < equals; ++item) sorted.resize(sorted.size() + count(question(e), item), item);
          return joined(sorted, {equals});
        },
        {"symbols"}}},
      {"stack_manipulation",
       [](const Example& e) {  // from the last action back: a pop removes the nearest remaining bit before it
         const Tokens tokens = question(e);
         Tokens stack;
         int pops = 0;
         for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) {
           if (*token == 2) {
             ++pops;
           } else if (pops > 0) {
             --pops;
           } else {
             stack.push_back(*token < 2 ? *token : *token - 3);
           }
         }
         return joined(stack, {2});
       }},
      {"stacked_mqar",
       [](const Example& e) {  // ids: 16 keys times 16 values, then keys, then values
         Tokens values;
         for (const int t : e.scored) {
           const int key = e.tokens[t] - 256;
           const auto pair =
               std::find_if(e.tokens.begin(), e.tokens.end(), [&](int id) { return id / 16 == key; });
           values.push_back(272 + *pair % 16);
         }
         return values;
       }},
      {"summation",
       [](const Example& e) {
         int sum = 0;
         for (int digit = 1; digit <= 9; ++digit) sum += digit * count(question(e), digit);
         return Tokens{sum % 10};
       }},
      {"text",
       {[](const Example& e) {
          Tokens next;
          for (const int t : e.scored) next.push_back(e.tokens[t + 1]);
          return next;
        },
        {"file", "crc32"}}},
      {"unique_copy",
       {[](const Example& e) { return joined(question(e), {e.tokens[e.scored.front()]}); }, {"symbols"}}},
      {"variable_tracking",
       [](const Example& e) {
         const Tokens text = question(e);
         std::set<int> reached{text.back()};
         Tokens variables;
         for (size_t t = 1; t + 2 < text.size(); ++t) {
           if (text[t] != 36 || reached.count(text[t + 1]) == 0) continue;
           reached.insert(text[t - 1]);
           variables.push_back(text[t - 1]);
         }
         return variables;
       }},
  };
  return rows;
}

const std::map<std::string, Oracle>& oracles() { return all_oracles(); }

RegisterOracle::RegisterOracle(const std::string& task, Oracle oracle) { all_oracles().emplace(task, std::move(oracle)); }

}  // namespace posbench
