// Finds the topic of the i-th last sentence.
//
//   0 8 3 . 2 2 15 . 9 1 . ?2   ->   15        words 0..7, topics 8..15; the second sentence from the end
//
// A sentence is a topic word at a uniform position among filler words. The queried sentence is uniform among the
// last `farthest`. The distance is its index from the end: 1 for the last sentence.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::ith_last_sentence {
namespace {

const TaskInfo kInfo{
    .name = "ith_last_sentence",
    .family = "sentence_addressing",
    .aspects = {Aspect::counting, Aspect::order},
    .definition =
        "The model reads sentences of filler words and one topic word each, and answers the topic of the i-th "
        "sentence from the end.",
    .requirement = "The model has to count sentences back from the end: a distance in sentences, not in tokens.",
    .source = "after Golovneva et al. 2024, arXiv:2405.18719, Table 1",
    .published =
        "The paper prompts large models with one example and trains nothing; the data and splits are ours.",
    .length_unit = "sentences",
    .distance_unit = "sentences",
    .splits = {{"in_distribution", {}, "the trained sentences"},
               {"ood_longer_sentences",
                {{"words", "1x..2x"}},
                "longer sentences: the same count of full stops, farther"},
               {"ood_more_sentences", {{"length", "1x..1.67x"}}, "more sentences before the queried ones"}},
    .shortcuts = {.token = 0.16, .neighbor = 0.23, .count = 0.23},
};

struct Options {
  Integers length{4, 6};
  Integers words{2, 6};
  int fillers = 8;
  int topics = 8;
  int farthest = 4;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 1000, "sentences");
    o.integers("words", words, 0, 1000, "filler words of a sentence");
    o.integer("fillers", fillers, 1, 10000, "different filler words");
    o.integer("topics", topics, 2, 10000, "different topic words");
    o.integer("farthest", farthest, 1, 1000, "the largest index of the queried sentence, counted from the end");
  }
};

class IthLastSentence final : public BasicTask<Options> {
 public:
  IthLastSentence(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.farthest > options.length.min()) {
      throw InputError(fmt::format(
          "task 'ith_last_sentence': farthest {} needs more than {} sentences; lower it or raise length",
          options.farthest, options.length.min()));
    }
  }

  int vocabulary() const override { return stop() + 1 + options_.farthest; }
  double chance_level() const override { return 1.0 / options_.topics; }
  std::string token_text(int token) const override {
    if (token < stop()) return std::to_string(token);
    return token == stop() ? "." : fmt::format("?{}", token - stop());
  }

  Example sample(int length, Rng& rng) const override {
    const int queried = uniform(rng, 1, options_.farthest);
    std::vector<int> question;
    int answer = kIgnore;
    for (int sentence = 0; sentence < length; ++sentence) {
      const int words = options_.words.draw(rng), topic = options_.fillers + uniform(rng, 0, options_.topics - 1);
      std::vector<int> tokens = uniform_tokens(rng, words, 0, options_.fillers - 1);
      tokens.insert(tokens.begin() + uniform(rng, 0, words), topic);
      question.insert(question.end(), tokens.begin(), tokens.end());
      question.push_back(stop());
      if (sentence == length - queried) answer = topic;
    }
    Example example = ask(layout_, std::move(question), stop() + queried, {answer});
    example.segments = segments_ended_by(stop(), example.tokens);
    example.distances = {queried};
    return example;
  }

 private:
  int stop() const { return options_.fillers + options_.topics; }
};

const RegisterTask<IthLastSentence> registered{kInfo};

}  // namespace
}  // namespace posbench::ith_last_sentence
