// Predicts sentences of a probabilistic grammar whose verbs agree with the first noun.
//
//   n3 p1 N0 p2 n5 v0 .         n: singular, N: plural; the subject n3 is singular, and so is the verb
//
//   sentence -> noun phrase, verb, "."
//   phrase   -> noun | noun preposition phrase         the second with probability `nested`
//
// Nouns are uniform over both numbers and `nouns` stems, prepositions and verbs over their stems. A sequence
// starts with a sentence and ends at its length. The distance of a verb is the number of tokens back to the first
// noun of its sentence; all other tokens depend on the token before them alone, at distance 1.
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::grammar {
namespace {

const TaskInfo kInfo{
    .name = "grammar",
    .family = "language_modeling",
    .aspects = {Aspect::hierarchy},
    .definition =
        "The model reads sentences of a probabilistic grammar and predicts every next token. "
        "A verb has the number of the first noun of its sentence, with any number of other nouns between them.",
    .requirement =
        "Attention has to find the first noun since the last end of a sentence, with any number of other nouns "
        "between.",
    .source = "ours, after Linzen et al. 2016, arXiv:1611.01368",
    .published =
        "The paper takes sentences from Wikipedia. A grammar has a known entropy, the least loss that a model "
        "can reach, and distances that can be set. A model that does not know the number of the subject loses "
        "up to ln 2 more for each verb.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .causal_only = true,
    .splits = {{"in_distribution", {}, "the trained length and nesting"},
               {"ood_nested", {{"nested", "0.8"}}, "verbs farther from their subjects, at the trained length"},
               {"ood_length2", {{"length", "2x"}}, "twice the trained length"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained length"}},
    .largest_answer_fraction = 0.22,
    .shortcuts = {.token = 0.36},
};

enum class Scored { all, verbs };

struct Options {
  Integers length{48};
  double nested = 0.5;
  int nouns = 8, prepositions = 4, verbs = 1;
  Scored scored = Scored::all;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, 100000, "tokens");
    o.number("nested", nested, 0, 0.99, "probability that a preposition and another noun follow a noun");
    o.integer("nouns", nouns, 1, 10000, "stems of nouns; each is singular or plural");
    o.integer("prepositions", prepositions, 1, 10000, "different prepositions");
    o.integer("verbs", verbs, 1, 10000, "stems of verbs; each is singular or plural");
    o.choice("scored", scored, {"all", "verbs"}, "every token that is predicted, or verbs alone");
  }
};

class Grammar final : public BasicTask<Options> {
 public:
  using BasicTask::BasicTask;
  int vocabulary() const override { return kNoun + 2 * (options_.nouns + options_.verbs) + options_.prepositions; }
  double chance_level() const override { return 1.0 / vocabulary(); }
  std::string token_text(int token) const override {
    if (token == kStop) return ".";
    if (token >= preposition(0)) return fmt::format("p{}", token - preposition(0));
    const bool is_noun = token < verb(0, false);
    const int of_kind = token - (is_noun ? kNoun : verb(0, false));
    const char* letters = is_noun ? "nN" : "vV";  // singular, plural
    return fmt::format("{}{}", letters[of_kind % 2], of_kind / 2);
  }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> tokens, distances;  // for each token, back to the token that it depends on
    std::vector<bool> is_verb;
    while (static_cast<int>(tokens.size()) <= length) {
      const size_t begin = tokens.size();
      const int subject = draw_noun(rng);
      tokens.push_back(subject);
      while (bernoulli(rng, options_.nested)) {
        tokens.push_back(preposition(uniform(rng, 0, options_.prepositions - 1)));
        tokens.push_back(draw_noun(rng));
      }
      distances.resize(tokens.size(), 1);
      distances.push_back(static_cast<int>(tokens.size() - begin));
      is_verb.resize(tokens.size(), false);
      is_verb.push_back(true);
      tokens.push_back(verb(uniform(rng, 0, options_.verbs - 1), (subject - kNoun) % 2 == 1));
      tokens.push_back(kStop);
    }
    tokens.resize(static_cast<size_t>(length) + 1);
    distances.resize(tokens.size(), 1);
    is_verb.resize(tokens.size(), false);
    std::vector<int> scored, scored_distances;
    for (int t = 0; t + 1 < length; ++t) {
      if (options_.scored == Scored::verbs && !is_verb[t + 1]) continue;
      scored.push_back(t);
      scored_distances.push_back(distances[t + 1]);
    }
    Example example = predict_next(std::move(tokens), std::move(scored), Loss::noisy);
    example.distances = std::move(scored_distances);
    example.segments = segments_ended_by(kStop, example.tokens);
    return example;
  }

  /// Follows the probabilities of the kinds of the last token through a sequence of each length. The next token
  /// has the entropy ln(2 nouns) for a noun; after a noun, that of a choice of `nested`, then ln(prepositions) or
  /// ln(verbs).
  std::optional<double> entropy() const override {
    const double p = options_.nested, of_verbs = std::log(options_.verbs);
    if (options_.scored == Scored::verbs) return of_verbs - std::log(1 - p);
    const auto times_log = [](double x) { return x > 0 ? -x * std::log(x) : 0; };
    const double of_nouns = std::log(2.0 * options_.nouns), of_prepositions = std::log(options_.prepositions);
    const double after_noun = times_log(p) + times_log(1 - p) + p * of_prepositions + (1 - p) * of_verbs;
    double sum = 0, scored = 0;
    for (const int length : options_.length.values()) {
      double noun = 1, preposition = 0, verb = 0, stop = 0;
      for (int t = 0; t + 1 < length; ++t) {
        sum += noun * after_noun + (preposition + stop) * of_nouns;
        scored += 1;
        const double next_noun = preposition + stop;
        stop = verb, verb = (1 - p) * noun, preposition = p * noun, noun = next_noun;
      }
    }
    return sum / scored;
  }

 private:
  static constexpr int kStop = 0, kNoun = 1;

  int draw_noun(Rng& rng) const { return kNoun + uniform(rng, 0, 2 * options_.nouns - 1); }
  int verb(int stem, bool plural) const { return kNoun + 2 * options_.nouns + 2 * stem + (plural ? 1 : 0); }
  int preposition(int n) const { return verb(options_.verbs, false) + n; }
};

const RegisterTask<Grammar> registered{kInfo};

}  // namespace
}  // namespace posbench::grammar
