// Multi-query multi-token associative recall: keys and values of several tokens, among spaces.
//
//   _ a3 a9 : a1 a7 _ _ _ a9 a3 : a4 a4 _   ? a9 a3 ? a3 a9 =   ->   a4 a4 a1 a7
//
// Each pair has its own slot, length / pairs tokens long, and a uniform position in it; a space ends it.
// Pairs take `fraction` of the length, as many as fit. Keys and values have the same alphabet and are all
// different, so that a single token identifies neither. The queries are uniform among the keys, and may repeat.
// The distance is the number of tokens from the target position of a value's token back to that token.
//
// Vasylenko et al. 2025, arXiv:2506.16640; code deep-spin/asentmax: 256 tokens in words of two, 4 queries,
// fraction=0.8, lengths of 32..64 trained and of 64 to 65536 tested.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class Mqmtar final : public Task {
 public:
  struct Options {
    Integers length{32, 64};
    double fraction = 0.8;
    int queries = 4, key = 2, value = 2, alphabet = 32;
    void describe(OptionTable& o) {
      o.integers("length", length, 4, 100000, "tokens before the queries");
      o.number("fraction", fraction, 0.01, 1, "fraction of the length that pairs take, with a space each");
      o.integer("queries", queries, 1, 1000, "queried keys");
      o.integer("key", key, 1, 10, "tokens of a key");
      o.integer("value", value, 1, 10, "tokens of a value");
      o.integer("alphabet", alphabet, 2, 10000, "tokens that keys and values are made of");
    }
  };

  Mqmtar(const Options& options, Layout layout) : options_(options), layout_(layout) {
    if (pairs(options.length.min()) == 0) {
      throw std::invalid_argument(fmt::format(
          "task 'mqmtar': fraction {} of length {} cannot hold a pair of {} tokens and a space; raise one of them",
          options.fraction, options.length.min(), pair_tokens()));
    }
    if (std::pow(options.alphabet, std::min(options.key, options.value)) < 2 * pairs(options.length.max())) {
      throw std::invalid_argument(
          fmt::format("task 'mqmtar': alphabet {} has too few words for {} pairs; raise it or lower length",
                      options.alphabet, pairs(options.length.max())));
    }
  }

  int vocabulary() const override { return kLetter + options_.alphabet; }
  double chance_level() const override { return 1.0 / options_.alphabet; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    return token < kLetter ? std::string(1, "_:?="[token]) : fmt::format("a{}", token - kLetter);
  }

  Example sample(int length, Rng& rng) const override {
    const int count = pairs(length), slot = length / count;
    const auto keys = words(options_.key, count, rng), values = words(options_.value, count, rng);
    std::vector<int> question, segments, value_positions;
    for (int n = 0; n < count; ++n) {
      const size_t before = question.size() + uniform(rng, 0, slot - pair_tokens() - 1);
      question.resize(before, kSpace);
      question.insert(question.end(), keys[n].begin(), keys[n].end());
      question.push_back(kPair);
      value_positions.push_back(static_cast<int>(question.size()));
      question.insert(question.end(), values[n].begin(), values[n].end());
      question.resize(static_cast<size_t>(n + 1) * slot, kSpace);
      segments.resize(question.size(), n);
    }
    std::vector<int> answer, answer_positions;
    for (int query = 0; query < options_.queries; ++query) {
      const int queried = uniform(rng, 0, count - 1);
      question.push_back(kQuery);
      question.insert(question.end(), keys[queried].begin(), keys[queried].end());
      segments.resize(question.size(), count + query);
      answer.insert(answer.end(), values[queried].begin(), values[queried].end());
      for (int n = 0; n < options_.value; ++n) answer_positions.push_back(value_positions[queried] + n);
    }
    Example example = ask(layout_, std::move(question), kBlank, answer);
    segments.resize(example.tokens.size(), count + options_.queries);
    example.segments = std::move(segments);
    for (size_t n = 0; n < answer.size(); ++n) example.distances.push_back(example.scored[n] - answer_positions[n]);
    return example;
  }

 private:
  static constexpr int kSpace = 0, kPair = 1, kQuery = 2, kBlank = 3, kLetter = 4;

  int pair_tokens() const { return options_.key + 1 + options_.value; }
  int pairs(int length) const { return static_cast<int>(length * options_.fraction / (pair_tokens() + 1)); }

  /// Uniform words, all different.
  std::vector<std::vector<int>> words(int tokens, int count, Rng& rng) const {
    std::vector<std::vector<int>> words;
    while (static_cast<int>(words.size()) < count) {
      auto word = uniform_tokens(rng, tokens, kLetter, kLetter + options_.alphabet - 1);
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
    }
    return words;
  }

  Options options_;
  Layout layout_;
};

const RegisterTask<Mqmtar> registered{{
    .name = "mqmtar",
    .family = "associative recall",
    .definition = "Reads pairs of a key and a value, both of several tokens, among spaces, then keys, and answers "
                  "their values in order.",
    .takes = "Attention has to match a key of several tokens in their order, and then read the tokens after "
             "it one by one.",
    .source = "Vasylenko et al. 2025, arXiv:2506.16640; code deep-spin/asentmax",
    .published_name = "multi-query multi-token associative recall (MQMTAR)",
    .published = "256 tokens, and fixed words of two tokens, 10 000 keys and 10 000 values; ours has 32, and draws "
                 "new words. The separator before each answered value is left out. The position of a pair in its "
                 "slot, which there is near the middle, is uniform.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length2", {{"length", "2x"}}, "twice the trained lengths, with pairs to match"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained lengths, with pairs to match"},
               {"ood_sparse", {{"length", "1x"}, {"fraction", "0.4"}}, "fewer pairs among more spaces"}},
}};

}  // namespace
}  // namespace posbench
