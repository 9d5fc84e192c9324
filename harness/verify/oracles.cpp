#include "harness/verify/oracles.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "harness/verify/schoolbook.h"

namespace posbench {
namespace {

/// The tokens before the first scored place: the question of a task that asks once.
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

/// The numbers before and after the first `sign`; the second is empty where there is none.
std::pair<Tokens, Tokens> operands(int sign, const Tokens& tokens) {
  const auto found = std::find(tokens.begin(), tokens.end(), sign);
  if (found == tokens.end()) return {tokens, {}};
  return {Tokens(tokens.begin(), found), Tokens(found + 1, tokens.end())};
}

/// The value modulo 5 of an expression whose token t reads signs[t], by two stacks (Dijkstra's shunting yard). A
/// minus where no number stands before it is a sign, written ~ on the stack.
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

/// All permutations of 0..4, or those with an even number of cycles of even length, in lexicographic order.
std::vector<Tokens> permutations_of_five(bool even_only) {
  std::vector<Tokens> result;
  for (int code = 1234; code <= 43210; ++code) {
    Tokens p;
    for (int unit = 10000; unit > 0; unit /= 10) p.push_back(code / unit % 10);
    if (std::set<int>(p.begin(), p.end()) != std::set<int>{0, 1, 2, 3, 4}) continue;
    int even_cycles = 0;
    std::set<int> seen;
    for (int start = 0; start < 5; ++start) {
      int length = 0;
      for (int i = start; seen.insert(i).second; i = p[i]) ++length;
      even_cycles += length > 0 && length % 2 == 0;
    }
    if (!even_only || even_cycles % 2 == 0) result.push_back(p);
  }
  return result;
}

/// After each scored key, the value that followed it the last time, where keys stand at even places.
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

const std::map<std::string, Oracle>& oracles() {
  static const std::map<std::string, Oracle> rows{
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
         const Tokens asked = question(e);
         if (asked.size() == 1) return Tokens{2};
         const auto [a, b] = operands(2, asked);
         return joined(schoolbook::product(a, b, 2), {2});
       }},
      {"bucket_sort",
       [](const Example& e) {
         Tokens sorted;
         for (int digit = 0; digit < 5; ++digit) sorted.resize(sorted.size() + count(question(e), digit), digit);
         return sorted;
       }},
      {"compute_sqrt",
       [](const Example& e) {
         Tokens root = schoolbook::square_root(reversed(question(e)));
         root.resize((question(e).size() + 1) / 2, 0);
         return reversed(root);
       }},
      {"copy", {[](const Example& e) { return joined(question(e), {e.tokens[e.scored.front()]}); }, {"symbols"}}},
      {"count_word_last_sentence",
       {[](const Example& e) {  // ids: words, full stop, question mark, counts; it ends in ". ? word"
          const int asked = e.tokens.back(), stop = e.tokens.end()[-2] - 1;
          const auto last_stop = e.tokens.end() - 3;
          const auto sentence = std::find(std::make_reverse_iterator(last_stop), e.tokens.rend(), stop).base();
          return Tokens{stop + 2 + static_cast<int>(std::count(sentence, last_stop, asked))};
        },
        {"lexicon", "largest", "distractors"}}},
      {"counting",
       {[](const Example& e) {  // the variables' ids come first, then those of = ; ++; pass; print 0 1 ...
          const int asked = e.tokens.back(), variables = e.tokens.end()[-2] - 4;
          const int equals = variables, increment = variables + 2, zero = variables + 5;
          int increments = 0;
          for (size_t t = e.tokens.size() - 3; e.tokens[t] != asked || e.tokens[t + 1] != equals; --t) {
            increments += e.tokens[t] == asked && e.tokens[t + 1] == increment;
          }
          return Tokens{zero + increments};
        },
        {"variables", "maximum", "set", "pass", "increment"}}},
      {"cycle_navigation",
       [](const Example& e) {
         int place = 0;
         for (const int step : question(e)) {
           if (step == 0) place = place == 0 ? 4 : place - 1;
           if (step == 2) place = place == 4 ? 0 : place + 1;
         }
         return Tokens{place};
       }},
      {"duplicate_string", [](const Example& e) { return joined(question(e), question(e)); }},
      {"dyck",
       {[](const Example& e) {
          constexpr int kTypes = 8;
          Tokens closing;
          for (const int t : e.scored) {  // the nearest opening bracket that nothing up to t closes
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
      {"group_word",
       [](const Example& e) {  // of a5 and s5: follows each of the five points
         static const std::vector<Tokens> even = permutations_of_five(true), all = permutations_of_five(false);
         const std::vector<Tokens>& elements = e.tokens.front() == 60 ? even : all;
         Tokens products, where{0, 1, 2, 3, 4};
         for (size_t t = 1; t < e.tokens.size(); ++t) {
           for (int& point : where) point = elements.at(e.tokens[t])[point];
           const auto product = std::find(elements.begin(), elements.end(), where);
           products.push_back(static_cast<int>(product - elements.begin()));
         }
         return products;
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
      {"ith_last_sentence",
       {[](const Example& e) {
          constexpr int kFillers = 8;
          const int stop = e.tokens.end()[-2];
          int sentences = e.tokens.back() - stop;  // full stops on the way back to the sentence asked for
          size_t t = e.tokens.size() - 1;
          while (sentences > 0) sentences -= e.tokens[--t] == stop;
          while (e.tokens[--t] < kFillers) continue;
          return Tokens{e.tokens[t]};
        },
        {"topics", "farthest"}}},
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
          const Tokens asked = question(e);
          int variable = asked.back();
          bool negative = false;
          while (variable != 28) {  // the number 1, at the start of the chain
            size_t clause = 0;
            while (asked[clause] != variable) clause += 4;
            negative ^= asked[clause + 1] == 27;
            variable = asked[clause + 2];
          }
          return Tokens{negative ? 27 : 26};
        },
        {"shuffled"}}},
      {"mad_fuzzy_in_context_recall",
       {[](const Example& e) {
          constexpr int kKeys = 7;
          Tokens answers;
          std::vector<std::pair<Tokens, Tokens>> pairs{{}};  // what was read, cut where a key follows a value
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
       [](const Example& e) {  // 127 keys; nothing but the mapping's own definition can tell
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
      {"polynomial",
       [](const Example& e) {  // like terms together, then Horner
         const auto number = [](int id) { return id < 10 ? id : 9 - id; };
         const Tokens asked = question(e);
         int coefficients[4] = {}, value = 0;
         for (size_t t = 2; t < asked.size(); t += 4) coefficients[asked[t + 3]] += number(asked[t + 1]);
         for (int exponent = 3; exponent >= 0; --exponent) {
           value = value * number(asked[1]) + coefficients[exponent];
         }
         return Tokens{(value % 10 + 10) % 10};
       }},
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
         return solutions;  // one, or the test fails
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
       [](const Example& e) {  // from the last action back: a pop takes the nearest bit before it that is left
         const Tokens asked = question(e);
         Tokens stack;
         int pops = 0;
         for (auto token = asked.rbegin(); token != asked.rend(); ++token) {
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
      {"summation",
       [](const Example& e) {
         int sum = 0;
         for (int digit = 1; digit <= 9; ++digit) sum += digit * count(question(e), digit);
         return Tokens{sum % 10};
       }},
  };
  return rows;
}

}  // namespace posbench
