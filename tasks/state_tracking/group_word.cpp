// Multiplies elements of a group; pq applies p first.
//
//   begin 23145 21354   ->   23145 at the first, 13254 at the second        one-line notation
//
// Elements are independent and uniform, so products are uniform, too. A position reads an element, never an
// answer, so both layouts are the same.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

const TaskInfo kInfo{
    .name = "group_word",
    .family = "state_tracking",
    .aspects = {Aspect::state_tracking},
    .definition = "The model reads elements of a group and answers, after each, the product of all so far.",
    .requirement =
        "The model has to compose all elements in their order. "
        "As far as is known, a fixed number of layers can do this at any length for z60 (abelian) and for "
        "a4xz5, s3 and s4 (solvable). For a5 and s5, known constructions need a depth that grows with the "
        "length, so no position encoding should help: these groups are a control.",
    .source = "Merrill, Petty, Sabharwal 2024, arXiv:2404.08819",
    .published_name = "word problems of S5, A5, A4 x Z5 and Z60",
    .published =
        "The paper tests at the trained length only, up to 20, and varies the depth. "
        "Its code (jopetty/word-problem) numbers elements in another order and has a target `begin` at `begin`; "
        "here `begin` has no target. s3 and s4 are added.",
    .length_unit = "elements",
    .distance_unit = "elements multiplied",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "2x"}}, "up to twice the trained lengths"}},
    .shortcuts = {.token = 0.24, .neighbor = 0.24, .count = 0.04},
};

enum class Group { s5, a5, a4xz5, z60, s3, s4 };
using Permutation = std::vector<int>;

/// Returns all permutations of 0 .. n - 1, or the even ones, in lexicographic order.
std::vector<Permutation> permutations(int n, bool even_only) {
  std::vector<Permutation> result;
  Permutation p(n);
  std::iota(p.begin(), p.end(), 0);
  do {
    int inversions = 0;
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) inversions += p[i] > p[j];
    }
    if (!even_only || inversions % 2 == 0) result.push_back(p);
  } while (std::next_permutation(p.begin(), p.end()));
  return result;
}

/// Returns the direct product with the cyclic group: each element of `left` with each rotation of n further
/// points.
std::vector<Permutation> times_cyclic(const std::vector<Permutation>& left, int n) {
  std::vector<Permutation> result;
  for (const Permutation& p : left) {
    const int points = static_cast<int>(p.size());
    for (int shift = 0; shift < n; ++shift) {
      result.push_back(p);
      for (int i = 0; i < n; ++i) result.back().push_back(points + (i + shift) % n);
    }
  }
  return result;
}

/// Returns the elements as permutations, in lexicographic order, so that the identity comes first.
std::vector<Permutation> elements(Group group) {
  switch (group) {
    case Group::s5:
      return permutations(5, false);
    case Group::a5:
      return permutations(5, true);
    case Group::a4xz5:
      return times_cyclic(permutations(4, true), 5);
    case Group::z60:
      return times_cyclic({Permutation{}}, 60);
    case Group::s3:
      return permutations(3, false);
    case Group::s4:
      return permutations(4, false);
  }
  return {};
}

struct Options {
  Integers length{1, 12};
  Group group = Group::a5;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "elements");
    o.choice("group", group, {"s5", "a5", "a4xz5", "z60", "s3", "s4"}, "group whose elements are multiplied");
  }
};

class GroupWord final : public BasicTask<Options> {
 public:
  GroupWord(const Options& options, Layout layout)
      : BasicTask(options, layout), elements_(elements(options.group)) {}

  int vocabulary() const override { return begin() + 1; }
  double chance_level() const override { return 1.0 / begin(); }
  std::string token_text(int token) const override {
    if (token == begin()) return "begin";
    if (options_.group == Group::z60) return std::to_string(token);
    const size_t points = options_.group == Group::a4xz5 ? 4 : elements_[token].size();
    std::string text;
    for (size_t i = 0; i < points; ++i) text += static_cast<char>('1' + elements_[token][i]);
    return options_.group == Group::a4xz5 ? fmt::format("{}/{}", text, token % 5) : text;
  }

  Example sample(int length, Rng& rng) const override {
    Example example{.tokens = {begin()}, .targets = {kIgnore}};
    int product = 0;
    for (int n = 1; n <= length; ++n) {
      const int element = uniform(rng, 0, begin() - 1);
      product = multiply(product, element);
      example.tokens.push_back(element);
      example.targets.push_back(product);
      example.scored.push_back(n);
      example.distances.push_back(n);
    }
    example.segments.resize(example.tokens.size());
    std::iota(example.segments.begin(), example.segments.end(), 0);
    return example;
  }

 private:
  int begin() const { return static_cast<int>(elements_.size()); }

  int multiply(int p, int q) const {
    Permutation product = elements_[p];
    for (int& point : product) point = elements_[q][point];
    return static_cast<int>(std::lower_bound(elements_.begin(), elements_.end(), product) - elements_.begin());
  }

  std::vector<Permutation> elements_;
};

const RegisterTask<GroupWord> registered{kInfo};

}  // namespace
}  // namespace posbench
