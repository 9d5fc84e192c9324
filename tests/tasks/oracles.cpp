#include "tests/tasks/oracles.h"

#include <algorithm>

namespace posbench {
namespace {

/// The tokens before the first scored place: the question of a task that asks once.
Tokens question(const Example& e) { return {e.tokens.begin(), e.tokens.begin() + e.scored.front()}; }

int count(const Tokens& tokens, int token) { return static_cast<int>(std::count(tokens.begin(), tokens.end(), token)); }

}  // namespace

const std::map<std::string, Oracle>& oracles() {
  static const std::map<std::string, Oracle> rows{
      {"last_x_retrieval",
       [](const Example& e) {
         const Tokens items = question(e);
         for (size_t i = items.size(); i >= 2; i -= 2) {
           if (items[i - 2] == 1) return Tokens{items[i - 1]};
         }
         return Tokens{};
       }},
      {"parity_check", [](const Example& e) { return Tokens{count(question(e), 1) % 2}; }},
  };
  return rows;
}

}  // namespace posbench
