// Multiplies elements of a group; pq applies p first.
//
//   begin 23145 21354   ->   23145 at the first, 13254 at the second        one-line notation
//
//   begin 21345 23451 51234 21345   ->   yes at the last        answer=identity, symbols=generators, group=s5
//
// Elements are independent and uniform, so products are uniform, too. A position reads an element, never an
// answer, so both layouts are the same.
//
// With answer=identity, half of the words are uniform among those with the identity as product, and half are
// uniform among the others. In some groups only words of even length can be the identity, so odd lengths are
// rounded down. Generators are two elements and their inverses: for s3 to s5, the exchange of the first two points
// and the cycle of all, for a5 the cycles of three and of all five points.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::group_word {
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
        "length, so no encoding of positions alone should help. PaTH multiplies matrices along the sequence, so it may.",
    .source = "Merrill, Petty, Sabharwal 2024, arXiv:2404.08819",
    .published_name = "word problems of S5, A5, A4 x Z5 and Z60",
    .published =
        "The paper tests at the trained length only, up to 20, and varies the depth. "
        "In its code (jopetty/word-problem) the later element acts first, and `begin` has a target `begin`; here the "
        "earlier element acts first, and `begin` has no target. s3 and s4 are added. The word problem in the strict "
        "sense asks if a word is the identity (answer=identity,symbols=generators); Yang et al. 2025, "
        "arXiv:2505.16381, section 4.1, have it for words of other generators of a5, three 3-cycles and their inverses.",
    .length_unit = "elements",
    .distance_unit = "elements multiplied",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "2x"}}, "up to twice the trained lengths"}},
    .shortcuts = {.token = 0.24, .neighbor = 0.24, .count = 0.04},
    .learnability = Learnability::control,
    .learnability_note =
        "Known constructions for a5, the default group, need a depth that grows with the length (Merrill et "
        "al. 2024). model.block=lstm learns it: 0.99 of the sequences with seed 0.",
};

enum class Group { s5, a5, a4xz5, z60, s3, s4 };
enum class Answer { product, identity };
enum class Symbols { elements, generators };
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

Permutation inverse(const Permutation& p) {
  Permutation result(p.size());
  for (size_t i = 0; i < p.size(); ++i) result[p[i]] = static_cast<int>(i);
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

/// Returns two generators, as permutations, and their inverses. The inverse of an exchange is the same.
std::vector<Permutation> generators(Group group, int points) {
  Permutation cycle(points), small(points);
  std::iota(small.begin(), small.end(), 0);
  for (int i = 0; i < points; ++i) cycle[i] = (i + 1) % points;
  std::swap(small[0], small[1]);
  if (group != Group::a5) return {small, cycle, inverse(cycle)};
  std::swap(small[1], small[2]);
  return {small, inverse(small), cycle, inverse(cycle)};
}

struct Options {
  Integers length{1, 12};
  Group group = Group::a5;
  Answer answer = Answer::product;
  Symbols symbols = Symbols::elements;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "elements");
    o.choice("group", group, {"s5", "a5", "a4xz5", "z60", "s3", "s4"}, "group whose elements are multiplied");
    o.choice("answer", answer, {"product", "identity"},
             "the product after each element; or yes or no at the end: is the product the identity?");
    o.choice("symbols", symbols, {"elements", "generators"}, "all elements, or two generators and their inverses");
  }
};

class GroupWord final : public BasicTask<Options> {
 public:
  GroupWord(const Options& options, Layout layout)
      : BasicTask(options, layout), elements_(elements(options.group)) {
    if (options.symbols == Symbols::generators) {
      if (options.group == Group::a4xz5 || options.group == Group::z60)
        throw InputError(
            "task 'group_word': symbols=generators is for s3, s4, s5 and a5; choose one of these groups");
      for (const Permutation& p : generators(options.group, static_cast<int>(elements_[0].size())))
        symbols_.push_back(index_of(p));
    } else {
      symbols_.resize(elements_.size());
      std::iota(symbols_.begin(), symbols_.end(), 0);
    }
    if (options.answer == Answer::product) return;
    if (options.length.min() % 2 == 1) {
      throw InputError(
          fmt::format("task 'group_word': answer=identity needs an even smallest length, not {}; change it",
                      options.length.min()));
    }
    count_ways(options.length.max());
  }

  int vocabulary() const override { return begin() + (asks_for_identity() ? 3 : 1); }
  double chance_level() const override { return asks_for_identity() ? 0.5 : 1.0 / begin(); }
  std::string token_text(int token) const override {
    if (token == begin()) return "begin";
    if (token > begin()) return token == begin() + 1 ? "no" : "yes";
    if (options_.group == Group::z60) return std::to_string(token);
    const size_t points = options_.group == Group::a4xz5 ? 4 : elements_[token].size();
    std::string text;
    for (size_t i = 0; i < points; ++i) text += static_cast<char>('1' + elements_[token][i]);
    return options_.group == Group::a4xz5 ? fmt::format("{}/{}", text, token % 5) : text;
  }

  Example sample(int length, Rng& rng) const override {
    if (asks_for_identity()) return identity_question(length / 2 * 2, rng);
    Example example{.tokens = {begin()}, .targets = {kIgnore}};
    int product = 0;
    for (int n = 1; n <= length; ++n) {
      const int element = symbols_[uniform(rng, 0, static_cast<int>(symbols_.size()) - 1)];
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

  bool asks_for_identity() const { return options_.answer == Answer::identity; }

  int index_of(const Permutation& p) const {
    return static_cast<int>(std::lower_bound(elements_.begin(), elements_.end(), p) - elements_.begin());
  }

  void count_ways(int longest) {
    std::vector<std::vector<int>> products(elements_.size());
    for (size_t p = 0; p < products.size(); ++p) {
      for (const int symbol : symbols_) products[p].push_back(multiply(static_cast<int>(p), symbol));
    }
    ways_.assign(1, std::vector<double>(elements_.size(), 0.0));
    ways_[0][0] = 1;
    for (int n = 1; n <= longest; ++n) {
      std::vector<double> ways(elements_.size(), 0.0);
      for (size_t p = 0; p < ways.size(); ++p) {
        for (const int product : products[p]) ways[p] += ways_.back()[product];
        ways[p] /= static_cast<double>(symbols_.size());
      }
      ways_.push_back(std::move(ways));
    }
  }

  /// Draws uniformly among the words of the identity, or among all words.
  std::vector<int> draw_word(int length, bool identity, Rng& rng) const {
    std::vector<int> word;
    int product = 0;
    for (int left = length - 1; left >= 0; --left) {
      const auto weight = [&](int n) { return identity ? ways_[left][multiply(product, symbols_[n])] : 1.0; };
      const int drawn = symbols_[draw_by_weight(rng, static_cast<int>(symbols_.size()), weight)];
      word.push_back(drawn);
      product = multiply(product, drawn);
    }
    return word;
  }

  Example identity_question(int length, Rng& rng) const {
    const bool identity = bernoulli(rng, 0.5);
    const auto is_identity = [this](const std::vector<int>& word) {
      return std::accumulate(word.begin(), word.end(), 0, [this](int p, int q) { return multiply(p, q); }) == 0;
    };
    std::vector<int> word = draw_word(length, identity, rng);
    while (is_identity(word) != identity) word = draw_word(length, identity, rng);
    Example example{.tokens = {begin()}, .targets = std::vector<int>(length + 1, kIgnore)};
    example.tokens.insert(example.tokens.end(), word.begin(), word.end());
    example.targets.back() = begin() + (identity ? 2 : 1);
    example.scored = example.distances = {length};
    example.length = length;
    example.segments.resize(example.tokens.size());
    std::iota(example.segments.begin(), example.segments.end(), 0);
    return example;
  }

  int multiply(int p, int q) const {
    Permutation product = elements_[p];
    for (int& point : product) point = elements_[q][point];
    return index_of(product);
  }

  std::vector<Permutation> elements_;
  std::vector<int> symbols_;               // the elements that words consist of
  std::vector<std::vector<double>> ways_;  // [n][p]: proportional to the number of ways from p to 1 by n symbols
};

const RegisterTask<GroupWord> registered{kInfo};

}  // namespace
}  // namespace posbench::group_word
