// Group word problem: after each element, the product of all elements so far.
//
//   begin 23145 21354   ->   23145 at the first, 13254 at the second        one-line notation
//
// Elements are independent and uniform, so products are uniform too; each element is one token, and pq applies p
// first. As far as is known, a fixed number of layers can answer at any length for z60 (abelian) and for a4xz5, s3
// and s4 (solvable), but not for a5 and s5. The latter are a control: no position encoding should help there.
//
// Merrill, Petty, Sabharwal 2024, arXiv:2404.08819; code jopetty/word-problem, which numbers elements in another
// order and also has a target `begin` at `begin`. There is no teacher forcing: a position reads an element, never
// an answer, so both layouts are the same.
#include <algorithm>
#include <numeric>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

enum class Group { s5, a5, a4xz5, z60, s3, s4 };
using Permutation = std::vector<int>;

/// All permutations of 0..n-1, or the even ones, in lexicographic order.
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

/// Every element of `left` beside every rotation of n further points: the direct product with the cyclic group.
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

/// The elements as permutations, in lexicographic order: the identity comes first.
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

class GroupWord final : public Task {
 public:
  struct Options {
    Integers length{1, 12};
    Group group = Group::a5;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 10000, "elements");
      o.choice("group", group, {"s5", "a5", "a4xz5", "z60", "s3", "s4"}, "whose elements are multiplied");
    }
  };

  GroupWord(const Options& options, Layout) : options_(options), elements_(elements(options.group)) {}

  int vocabulary() const override { return begin() + 1; }
  double chance_level() const override { return 1.0 / begin(); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
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

  Options options_;
  std::vector<Permutation> elements_;
};

const RegisterTask<GroupWord> registered{{
    .name = "group_word",
    .family = "state_tracking",
    .definition = "Reads elements of a group and answers, after each, the product of all so far.",
    .takes = "The model has to compose all elements in their order; for groups that are not solvable, known "
             "constructions need a depth that grows with the length.",
    .source = "Merrill, Petty, Sabharwal 2024, arXiv:2404.08819",
    .published_name = "word problems of S5, A5, A4 x Z5 and Z60",
    .published = "Lengths up to 20, tested at the trained length only; depth is what the paper varies. Elements "
                 "are numbered in another order, and `begin` has no target. s3 and s4 are added: both are "
                 "solvable.",
    .length_unit = "elements",
    .distance_unit = "elements multiplied",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "2x"}}, "up to twice the trained lengths"}},
}};

}  // namespace
}  // namespace posbench
