// Finds the tokens that follow a given n-gram in a string.
//
//   q x a b c d e f u | b c d =   ->   e f u        form=suffix: the key comes after the string
//   b c d | q x a b c d e f u =   ->   e f u        form=prefix: the key comes before it
//
// The string is uniform, except that the key occurs in it exactly once, at a uniform position before the answer.
// With a suffix key, attention may go from the key back to its occurrence; with a prefix key, the model must know
// what to find while it reads the string. The distance is the number of tokens back to the answer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::ngram_lookup {
namespace {

const TaskInfo kInfo{
    .name = "ngram_lookup",
    .family = "retrieval",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads a string and, before or after it, a few tokens that occur in it once, and answers the "
        "tokens that follow them in it.",
    .requirement = "Attention has to match several tokens in their order, and read the token after them.",
    .source = "Jelassi et al. 2024, arXiv:2402.01032; code sjelassi/transformers_ssm_copy",
    .published_name = "n-gram lookup, suffix key and prefix key",
    .published =
        "The paper has 26 letters and keys of three, and packs examples into one context; here they are single. "
        "The code takes any key of a string that holds a unique one, and its first occurrence; here the key "
        "occurs once. A separator precedes the answer, whose length is fixed, so that no end token follows. "
        "The splits are ours.",
    .length_unit = "tokens of the string",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length2", {{"length", "1x..2x"}}, "up to twice the trained lengths"},
               {"ood_length4", {{"length", "2x..4x"}}, "up to four times the trained lengths"}},
    .shortcuts = {.token = 0.11, .neighbor = 0.07, .count = 0.07},
};

enum class Form { prefix, suffix };
struct Options {
  Integers length{12, 24};
  Form form = Form::suffix;
  int key = 3, answer = 3, symbols = 26;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, 10000, "tokens of the string");
    o.choice("form", form, {"prefix", "suffix"}, "place of the key: before the string or after it");
    o.integer("key", key, 1, 100, "tokens of the key");
    o.integer("answer", answer, 1, 100, "tokens of the answer, which follow the key");
    o.integer("symbols", symbols, 2, 26, "different tokens");
  }
};

class NgramLookup final : public BasicTask<Options> {
 public:
  NgramLookup(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.length.min() < options.key + options.answer) {
      throw InputError(fmt::format(
          "task 'ngram_lookup': key {} and answer {} need a length of {} at least, not {}; raise length",
          options.key, options.answer, options.key + options.answer, options.length.min()));
    }
    if (std::pow(options.symbols, options.key) < 2 * options.length.max()) {
      throw InputError(
          fmt::format("task 'ngram_lookup': a key of {} out of {} tokens is rarely found once only in {}; raise "
                      "key or symbols",
                      options.key, options.symbols, options.length.max()));
    }
  }

  int vocabulary() const override { return options_.symbols + 2; }
  double chance_level() const override { return 1.0 / options_.symbols; }
  std::string token_text(int token) const override {
    if (token >= options_.symbols) return token == separator() ? "|" : "=";
    return std::string(1, static_cast<char>('a' + token));
  }

  Example sample(int length, Rng& rng) const override {
    const int position = uniform(rng, 0, length - options_.key - options_.answer);
    std::vector<int> string, key;
    do {
      string = uniform_tokens(rng, length, 0, options_.symbols - 1);
      key.assign(string.begin() + position, string.begin() + position + options_.key);
    } while (std::search(string.begin(), string.end(), key.begin(), key.end()) != string.begin() + position ||
             std::search(string.begin() + position + 1, string.end(), key.begin(), key.end()) != string.end());
    const auto follows = string.begin() + position + options_.key;
    const std::vector<int> answer(follows, follows + options_.answer);

    const bool prefix = options_.form == Form::prefix;
    std::vector<int> question = prefix ? key : string, segments;
    question.push_back(separator());
    segments.resize(question.size(), 0);
    question.insert(question.end(), prefix ? string.begin() : key.begin(), prefix ? string.end() : key.end());
    segments.resize(question.size(), 1);
    Example example = ask(layout_, std::move(question), separator() + 1, answer);
    set_segments(example, std::move(segments), 2);
    const int first = (prefix ? options_.key + 1 : 0) + position + options_.key;
    example.distances.assign(answer.size(), example.scored.front() - first);
    return example;
  }

 private:
  int separator() const { return options_.symbols; }
};

const RegisterTask<NgramLookup> registered{kInfo};

}  // namespace
}  // namespace posbench::ngram_lookup
