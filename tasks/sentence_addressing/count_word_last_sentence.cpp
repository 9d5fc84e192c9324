// Counts a word in the last sentence, where earlier sentences contain the word, too.
//
//   2 2 1 0 . 3 2 0 1 . ? 2   ->   #1
//
// The answer is uniform over 0..largest, and the last sentence contains the queried word that often, at uniform
// positions. In earlier sentences each word is the queried one with probability `distractors`. All other words are
// uniform; a sentence too short for the answer is drawn again. With pieces=1..3, words have that many tokens, as
// byte-pair encoding makes them: `2 +1 +2`. A word always has the same pieces. The question names the first piece.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::count_word_last_sentence {
namespace {

const TaskInfo kInfo{
    .name = "count_word_last_sentence",
    .family = "sentence_addressing",
    .aspects = {Aspect::counting, Aspect::order},
    .definition =
        "The model reads sentences and a word, and answers how often the last sentence contains the word.",
    .requirement =
        "The model has to count by content, and only since the last end of a sentence: a distance in sentences, "
        "not in tokens.",
    .source = "after Golovneva et al. 2024, arXiv:2405.18719, Table 1",
    .published =
        "The paper asks large models how often a word occurs in the last of two sentences. "
        "It has no data set and trains nothing; the data and splits are ours.",
    .length_unit = "sentences",
    .splits = {{"in_distribution", {}, "the trained sentences"},
               {"ood_longer_sentences", {{"words", "1x..2x"}}, "longer sentences, the trained number of them"},
               {"ood_more_sentences", {{"length", "1x..2x"}}, "more sentences, of the trained lengths"},
               {"ood_both", {{"words", "1x..2x"}, {"length", "1x..2x"}}, "more and longer sentences"}},
    .shortcuts = {.count = 0.21},
};

struct Options {
  Integers length{2, 4};
  Integers words{4, 8};
  int lexicon = 16;
  int largest = 4;
  double distractors = 0.25;
  Integers pieces{1};
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 1000, "sentences");
    o.integers("words", words, 1, 1000, "words of a sentence, without its full stop");
    o.integer("lexicon", lexicon, 2, 10000, "different words");
    o.integer("largest", largest, 1, 1000, "largest count");
    o.number("distractors", distractors, 0, 1, "probability of the queried word in the earlier sentences");
    o.integers("pieces", pieces, 1, 100,
               "tokens of a word; with several numbers, the words of the vocabulary take them in turn");
  }
};

class CountWordLastSentence final : public BasicTask<Options> {
 public:
  CountWordLastSentence(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.largest > options.words.max()) {
      throw InputError(
          fmt::format("task 'count_word_last_sentence': largest {} does not fit into a sentence of words {}; "
                      "lower it or raise words",
                      options.largest, options.words.text()));
    }
  }

  int vocabulary() const override { return zero() + options_.largest + options_.pieces.max(); }
  double chance_level() const override { return 1.0 / (options_.largest + 1); }
  std::string token_text(int token) const override {
    if (token < options_.lexicon) return std::to_string(token);
    if (token > zero() + options_.largest) return fmt::format("+{}", token - zero() - options_.largest);
    if (token >= zero()) return fmt::format("#{}", token - zero());
    return token == stop() ? "." : "?";
  }

  Example sample(int length, Rng& rng) const override {
    const int queried = uniform(rng, 0, options_.lexicon - 1), answer = uniform(rng, 0, options_.largest);
    std::vector<int> question;
    for (int sentence = 0; sentence < length - 1; ++sentence) {
      for (int words = options_.words.draw(rng); words > 0; --words) {
        question.push_back(bernoulli(rng, options_.distractors) ? queried : other_word(queried, rng));
      }
      question.push_back(stop());
    }
    int words = options_.words.draw(rng);
    while (words < answer) words = options_.words.draw(rng);
    std::vector<int> last(words, kIgnore);
    for (const int position : sample_distinct(rng, words, answer)) last[position] = queried;
    for (int& word : last) {
      if (word == kIgnore) word = other_word(queried, rng);
    }
    question.insert(question.end(), last.begin(), last.end());
    question = in_pieces(question, options_.pieces, zero() + options_.largest + 1, stop());
    question.insert(question.end(), {stop(), stop() + 1});
    Example example = ask(layout_, std::move(question), queried, {zero() + answer});
    example.segments = segments_ended_by(stop(), example.tokens);
    return example;
  }

 private:
  int stop() const { return options_.lexicon; }
  int zero() const { return options_.lexicon + 2; }  // the token of count 0; between the two, the question mark

  int other_word(int queried, Rng& rng) const {
    const int word = uniform(rng, 0, options_.lexicon - 2);
    return word + (word >= queried);
  }
};

const RegisterTask<CountWordLastSentence> registered{kInfo};

}  // namespace
}  // namespace posbench::count_word_last_sentence
