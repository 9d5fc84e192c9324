// Finds the i-th noun of a sentence; other words are not counted.
//
//   the N5 a is N2 of N7 1 =   ->   N5        from=start
//   the N5 a is N2 of N7 1 =   ->   N7        from=end
//
// Each word is one of eight fillers or, with probability `probability`, one of 16 nouns; a sentence has at least
// one noun. With pieces=1..3, words have that many tokens, as byte-pair encoding makes them:
//
//   the +1 N5 +1 +2 a 1 =   ->   N5
//
// A word always has the same pieces. The answer is the first piece. The index is uniform among those that the
// sentence has, up to `farthest`. The distance is the number of words from the question back to the answer.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::ith_word {
namespace {

const TaskInfo kInfo{
    .name = "ith_word",
    .family = "counting",
    .aspects = {Aspect::counting, Aspect::order},
    .definition =
        "The model reads words, some of which are nouns, and an index, and answers the noun with that index.",
    .requirement =
        "The model has to count nouns from the start and find the one whose number is given: a position in "
        "nouns, not in tokens.",
    .source = "after Golovneva et al. 2024, arXiv:2405.18719, section 1",
    .published =
        "The paper names the problem of attending to the i-th particular word, noun or sentence, which token "
        "positions cannot express, and trains nothing on it. "
        "The data and splits are ours. `ith_last_sentence` is the form over sentences, and `last_x_retrieval` "
        "is the form from the end, with the marker separate from its payload. "
        "The paper notes that a word may have several tokens, so the distance in tokens differs from the distance "
        "in words (pieces=1..3).",
    .length_unit = "words",
    .distance_unit = "words",
    .splits = {{"in_distribution", {}, "the trained length and probability of nouns"},
               {"ood_dense", {{"probability", "0.6"}}, "twice the nouns, at the trained length"},
               {"ood_sparse", {{"probability", "0.15"}}, "half the nouns, at the trained length"},
               {"ood_length", {{"length", "4x"}}, "the trained probability, in a longer sentence"}},
    .shortcuts = {.token = 0.19, .neighbor = 0.24, .count = 0.25},
};

enum class From { start, end };
struct Options {
  Integers length{24};
  double probability = 0.3;
  int farthest = 4;
  From from = From::start;
  Integers pieces{1};
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "words");
    o.number("probability", probability, 0, 1, "probability that a word is a noun");
    o.integer("farthest", farthest, 1, 1000, "largest index");
    o.choice("from", from, {"start", "end"}, "the end at which counting starts");
    o.integers("pieces", pieces, 1, 100,
               "tokens of a word; with several numbers, the words of the vocabulary take them in turn");
  }
};

class IthWord final : public BasicTask<Options> {
 public:
  using BasicTask::BasicTask;
  int vocabulary() const override { return blank() + options_.pieces.max(); }
  double chance_level() const override { return 1.0 / kNouns; }
  std::string token_text(int token) const override {
    static const char* const fillers[kFillers] = {"the", "a", "is", "of", "to", "and", "in", "on"};
    if (token < kFillers) return fillers[token];
    if (token < kIndex) return fmt::format("N{}", token - kFillers);
    if (token > blank()) return fmt::format("+{}", token - blank());
    return token == blank() ? "=" : fmt::format("{}", token - kIndex + 1);
  }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> question, nouns;  // nouns: their positions
    for (int n = 0; n < length; ++n) {
      const bool noun = bernoulli(rng, options_.probability);
      if (noun) nouns.push_back(n);
      question.push_back(noun ? draw_noun(rng) : uniform(rng, 0, kFillers - 1));
    }
    if (nouns.empty()) {
      nouns.push_back(uniform(rng, 0, length - 1));
      question[nouns[0]] = draw_noun(rng);
    }
    const int count = static_cast<int>(nouns.size()), index = uniform(rng, 1, std::min(count, options_.farthest));
    const int position = nouns[options_.from == From::start ? index - 1 : count - index],
              answer = question[position];
    question = in_pieces(question, options_.pieces, blank() + 1);
    question.push_back(kIndex + index - 1);
    Example example = ask(layout_, std::move(question), blank(), {answer});
    example.distances = {length - position};
    return example;
  }

 private:
  static constexpr int kFillers = 8, kNouns = 16, kIndex = kFillers + kNouns;
  static int draw_noun(Rng& rng) { return uniform(rng, kFillers, kIndex - 1); }
  int blank() const { return kIndex + options_.farthest; }  // further pieces of words follow
};

const RegisterTask<IthWord> registered{kInfo};

}  // namespace
}  // namespace posbench::ith_word
