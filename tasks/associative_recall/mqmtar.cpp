// Recalls values of several tokens by keys of several tokens, among spaces.
//
//   _ a3 a9 : a1 a7 _ _ _ a9 a3 : a4 a4 _   ? a9 a3 ? a3 a9 =   ->   a4 a4 a1 a7
//
// Each pair is at a uniform position of its own part of the sequence, length / pairs tokens long, and a space ends
// it. Keys and values have the same alphabet and are all distinct, so that a single token identifies neither;
// queried keys may repeat. The distance is the number of tokens from the target position back to that token of the
// value.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::mqmtar {
namespace {

const TaskInfo kInfo{
    .name = "mqmtar",
    .family = "associative_recall",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads pairs of a key and a value, both of several tokens, among spaces, then keys, and "
        "answers their values in order.",
    .requirement =
        "Attention has to match a key of several tokens in their order, and then read the tokens after it one "
        "by one.",
    .source = "Vasylenko et al. 2025, arXiv:2506.16640; code deep-spin/asentmax",
    .published_name = "multi-query multi-token associative recall (MQMTAR)",
    .published =
        "The paper has 256 tokens, a fixed set of 10 000 keys and 10 000 values of two tokens, 4 queries and "
        "fraction=0.8. It trains on lengths 32..64 and tests on 64 to 65536. "
        "Here there are 32 tokens, and each sample has new keys and values. "
        "The separator before each answered value is left out, and the position of a pair, which is near the "
        "middle in the code, is uniform.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length2", {{"length", "2x"}}, "twice the trained lengths, with pairs to match"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained lengths, with pairs to match"},
               {"ood_sparse", {{"length", "1x"}, {"fraction", "0.4"}}, "fewer pairs among more spaces"}},
    .far = TaskInfo::Far{},
    .shortcuts = {.token = 0.19, .neighbor = 0.12, .count = 0.04},
    .learnability = Learnability::open,
    .learnability_note =
        "The model of the quick profile was trained for 10,000 steps at a learning rate of 1e-3 with seed 0 "
        "and length=12..24,queries=8,alphabet=8, then also with key=1. rope and txl have 0.07 of the "
        "sequences right, and most of these have a single pair.",
};

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

class Mqmtar final : public BasicTask<Options> {
 public:
  Mqmtar(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (pairs(options.length.min()) == 0) {
      throw InputError(fmt::format(
          "task 'mqmtar': fraction {} of length {} cannot hold a pair of {} tokens and a space; raise one of them",
          options.fraction, options.length.min(), pair_tokens()));
    }
    if (std::pow(options.alphabet, std::min(options.key, options.value)) < 2 * pairs(options.length.max())) {
      throw InputError(
          fmt::format("task 'mqmtar': alphabet {} has too few words for {} pairs; raise it or lower length",
                      options.alphabet, pairs(options.length.max())));
    }
  }

  int vocabulary() const override { return kLetter + options_.alphabet; }
  double chance_level() const override { return 1.0 / options_.alphabet; }
  std::string token_text(int token) const override {
    return token < kLetter ? std::string(1, "_:?="[token]) : fmt::format("a{}", token - kLetter);
  }

  Example sample(int length, Rng& rng) const override {
    const int count = pairs(length), pair_length = length / count;
    const auto keys = draw_words(options_.key, count, rng), values = draw_words(options_.value, count, rng);
    std::vector<int> question, segments, value_positions;
    for (int n = 0; n < count; ++n) {
      const size_t before = question.size() + uniform(rng, 0, pair_length - pair_tokens() - 1);
      question.resize(before, kSpace);
      question.insert(question.end(), keys[n].begin(), keys[n].end());
      question.push_back(kPair);
      value_positions.push_back(static_cast<int>(question.size()));
      question.insert(question.end(), values[n].begin(), values[n].end());
      question.resize(static_cast<size_t>(n + 1) * pair_length, kSpace);
      segments.resize(question.size(), n);
    }
    std::vector<int> answer, evidence;
    for (int query = 0; query < options_.queries; ++query) {
      const int queried = uniform(rng, 0, count - 1);
      question.push_back(kQuery);
      question.insert(question.end(), keys[queried].begin(), keys[queried].end());
      segments.resize(question.size(), count + query);
      answer.insert(answer.end(), values[queried].begin(), values[queried].end());
      for (int n = 0; n < options_.value; ++n) evidence.push_back(value_positions[queried] + n);
    }
    Example example = ask(layout_, std::move(question), kBlank, answer);
    set_segments(example, std::move(segments), count + options_.queries);
    set_evidence(example, std::move(evidence));
    return example;
  }

 private:
  static constexpr int kSpace = 0, kPair = 1, kQuery = 2, kBlank = 3, kLetter = 4;

  int pair_tokens() const { return options_.key + 1 + options_.value; }
  int pairs(int length) const { return static_cast<int>(length * options_.fraction / (pair_tokens() + 1)); }

  /// Draws `count` uniform words, all distinct.
  std::vector<std::vector<int>> draw_words(int tokens, int count, Rng& rng) const {
    std::vector<std::vector<int>> words;
    while (static_cast<int>(words.size()) < count) {
      auto word = uniform_tokens(rng, tokens, kLetter, kLetter + options_.alphabet - 1);
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
    }
    return words;
  }
};

const RegisterTask<Mqmtar> registered{kInfo};

}  // namespace
}  // namespace posbench::mqmtar
