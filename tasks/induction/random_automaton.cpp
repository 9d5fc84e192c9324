// Continues strings of a random automaton that the model must infer from earlier strings.
//
//   a c b c d | b c d a c b ->        d at the first c of the last string, c at its last b
//
// Here the edges are 0 a 1, 0 b 2, 1 c 0, 2 c 3, 3 d 0: only d may follow b c, but a or b may follow a c. Every
// sequence draws an automaton. The edges of a state have different symbols and lead to different other states. A
// string starts in state 0 and follows uniform edges. A position is scored if its state has one edge, and if the
// last `context` symbols also occur in an earlier string, where the same symbol always follows them. It is not
// scored if they already occurred in its own string, because cycles would repeat the same answers.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::random_automaton {
namespace {

const TaskInfo kInfo{
    .name = "random_automaton",
    .family = "induction",
    .aspects = {Aspect::recall, Aspect::state_tracking},
    .definition =
        "The model reads strings of an automaton that it has never seen, and answers the next symbol at positions "
        "where the automaton allows only one and earlier strings show which.",
    .requirement =
        "Attention has to find earlier places with the same last symbols, in the same order, and read the symbol "
        "after them; the last symbol alone is often not enough.",
    .source = "Akyuerek et al. 2024, arXiv:2401.12973; code berlino/seq_icl, src/dataloaders/dfa.py, analyze.py",
    .published_name = "RegBench, in-context language learning",
    .published =
        "The code has automata of 4 to 12 states with 1 to 3 edges each, 4 to 18 symbols of 18, and 10 to 19 "
        "strings of 1 to 49 symbols. It minimizes the automata. It trains on 5000 of them (other configurations have "
        "2500 and 40 000) and on every next symbol, but not on |. Apart from the minimizing and from | that is "
        "random_automaton:states=4..12,symbols=4..18,vocabulary=18,length=10..19,string=1..49,loss=noisy. "
        "It scores all positions, and every symbol that the automaton allows is right. Here a scored position has "
        "one allowed symbol, which earlier strings show after the same two symbols. The paper finds that "
        "transformers predict the next symbol from the last few. "
        "Automata are smaller, training draws new ones, and the splits are ours.",
    .length_unit = "strings",
    .distance_unit = "tokens",
    .causal_only = true,
    .splits = {{"in_distribution", {}, "the trained numbers of strings, states and symbols"},
               {"ood_strings2", {{"length", "2x"}}, "twice the strings of each automaton"},
               {"ood_strings4", {{"length", "4x"}}, "four times the strings of each automaton"},
               {"ood_string_length", {{"string", "1x..2x"}}, "up to twice the symbols of each string"},
               {"ood_states", {{"states", "2x"}}, "twice the states, at the trained number of symbols"},
               {"ood_symbols", {{"symbols", "2x"}}, "twice the symbols, at the trained number of states"}},
    .far = TaskInfo::Far{{{"far", "true"}}},
    .shortcuts = {.token = 0.45, .neighbor = 0.4, .count = 0.33},
};

struct Options {
  Integers length{8}, string{4, 10}, states{6}, symbols{4}, edges{1, 3};
  int vocabulary = 12, context = 2;
  bool far = false;
  Loss loss = Loss::clean;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, 10000, "strings");
    o.integers("string", string, 1, 10000, "symbols of a string");
    o.integers("states", states, 2, 1000, "states of an automaton");
    o.integers("symbols", symbols, 1, 26, "symbols of an automaton");
    o.integers("edges", edges, 1, 26, "edges from a state");
    o.integer("vocabulary", vocabulary, 2, 26, "symbols from which those of an automaton are drawn");
    o.integer("context", context, 1, 100, "symbols before an answer that must occur in an earlier string");
    o.flag("far", far,
           "the string with the evidence uniformly anywhere, and only one symbol of the last string scored");
    describe_loss(o, loss, "the scored symbols");
  }
};

struct Edge {
  int symbol = 0, next = 0;
};
using Automaton = std::vector<std::vector<Edge>>;  // the edges from each state

struct DrawnString {
  std::vector<int> symbols;
  std::vector<bool> is_next_certain;  // after each symbol: the state has one edge
};

/// The symbol that followed a context in all earlier strings.
struct Follower {
  int symbol = 0, position = 0;  // the position in the sequence of its last occurrence
  bool is_only = true;
};

class RandomAutomaton final : public BasicTask<Options> {
 public:
  RandomAutomaton(const Options& options, Layout layout) : BasicTask(options, layout) {
    const auto refuse = [](const std::string& why) { throw InputError("task 'random_automaton': " + why); };
    if (options.symbols.max() > options.vocabulary) {
      refuse(fmt::format("symbols {} is more than vocabulary {}; lower it or raise vocabulary",
                         options.symbols.max(), options.vocabulary));
    }
    const int most = std::min(options.symbols.min(), options.states.min() - 1);
    if (options.edges.max() > most) {
      refuse(
          fmt::format("edges {} needs as many symbols and one more state, but there are {} symbols and {} "
                      "states; lower it or raise symbols or states",
                      options.edges.max(), options.symbols.min(), options.states.min()));
    }
    if (options.edges.min() > 1) {
      refuse(fmt::format("edges {} leaves no state with a certain next symbol; let it begin with 1",
                         options.edges.text()));
    }
    if (options.string.max() <= options.context) {
      refuse(fmt::format("context {} needs a string of {} symbols, not {}; lower it or raise string",
                         options.context, options.context + 1, options.string.max()));
    }
  }

  int vocabulary() const override { return 1 + options_.vocabulary; }
  double chance_level() const override { return 1.0 / options_.vocabulary; }
  std::string token_text(int token) const override {
    return std::string(1, token == kSeparator ? '|' : static_cast<char>('a' + token - 1));
  }

  /// Automata and strings without a scored position are drawn again.
  Example sample(int length, Rng& rng) const override {
    constexpr int kMaxAttempts = 100000;
    const int shown = options_.far ? uniform(rng, 0, length - 2) : -1;
    for (int n = 0; n < kMaxAttempts; ++n) {
      Example example = options_.far ? draw_far(length, shown, rng) : draw_sequence(length, rng);
      if (!example.scored.empty()) return example;
    }
    throw InputError(fmt::format(
        "task 'random_automaton': none of {} automata gave a position to score; lower context or edges, "
        "or raise length or string",
        kMaxAttempts));
  }

 private:
  static constexpr int kSeparator = 0;
  using Context = std::vector<int>;

  Automaton draw_automaton(Rng& rng) const {
    const int states = options_.states.draw(rng);
    const std::vector<int> alphabet = distinct_ids(rng, 1, options_.vocabulary, options_.symbols.draw(rng));
    Automaton automaton(states);
    for (int state = 0; state < states; ++state) {
      const int edges = options_.edges.draw(rng);
      const std::vector<int> symbols = distinct_ids(rng, 0, static_cast<int>(alphabet.size()), edges);
      const std::vector<int> others = distinct_ids(rng, 1, states - 1, edges);
      for (int n = 0; n < edges; ++n)
        automaton[state].push_back({alphabet[symbols[n]], (state + others[n]) % states});
    }
    return automaton;
  }

  DrawnString draw_string(const Automaton& automaton, Rng& rng) const {
    DrawnString string;
    int state = 0;
    for (int left = options_.string.draw(rng); left > 0; --left) {
      const std::vector<Edge>& edges = automaton[state];
      const Edge edge = edges[uniform(rng, 0, static_cast<int>(edges.size()) - 1)];
      string.symbols.push_back(edge.symbol);
      state = edge.next;
      string.is_next_certain.push_back(automaton[state].size() == 1);
    }
    return string;
  }

  Example draw_sequence(int length, Rng& rng) const {
    const Automaton automaton = draw_automaton(rng);
    std::vector<DrawnString> strings;
    for (int n = 0; n < length; ++n) strings.push_back(draw_string(automaton, rng));
    return lay_out(strings);
  }

  /// Draws a sequence whose last string ends with a symbol that string number `shown` and none after it shows.
  /// Returns an example without scored positions if that fails.
  Example draw_far(int length, int shown, Rng& rng) const {
    constexpr int kMaxStrings = 100;
    const Automaton automaton = draw_automaton(rng);
    DrawnString last = draw_string(automaton, rng);
    if (static_cast<int>(last.symbols.size()) <= options_.context) return {};
    const int asked = uniform(rng, options_.context, static_cast<int>(last.symbols.size()) - 1);
    if (!last.is_next_certain[asked - 1]) return {};
    last.symbols.resize(asked + 1);
    const Context context(last.symbols.end() - 1 - options_.context, last.symbols.end() - 1);
    const auto shows = [&](const DrawnString& string) {  // the context before another symbol
      return std::search(string.symbols.begin(), string.symbols.end() - 1, context.begin(), context.end()) !=
             string.symbols.end() - 1;
    };
    std::vector<DrawnString> strings;
    for (int n = 0; n < length - 1; ++n) {
      DrawnString string = draw_string(automaton, rng);
      for (int tries = 0; n >= shown && shows(string) != (n == shown); ++tries) {
        if (tries == kMaxStrings) return {};
        string = draw_string(automaton, rng);
      }
      strings.push_back(std::move(string));
    }
    strings.push_back(std::move(last));
    Example example = lay_out(strings);
    const int answer = static_cast<int>(example.tokens.size()) - 1;
    if (example.scored.empty() || example.scored.back() != answer) return {};
    example.scored = {answer};
    example.evidence = {example.evidence.back()};
    example.distances = {example.distances.back()};
    return example;
  }

  Example lay_out(const std::vector<DrawnString>& strings) const {
    std::vector<int> sequence, scored, evidence;
    std::map<Context, Follower> followers;  // in earlier strings
    for (const auto& [symbols, is_next_certain] : strings) {
      if (!sequence.empty()) sequence.push_back(kSeparator);
      const int begin = static_cast<int>(sequence.size());
      sequence.insert(sequence.end(), symbols.begin(), symbols.end());
      std::set<Context> seen;  // in this string
      std::vector<std::pair<Context, int>> positions;
      for (int i = options_.context - 1; i + 1 < static_cast<int>(symbols.size()); ++i) {
        Context context(symbols.begin() + i + 1 - options_.context, symbols.begin() + i + 1);
        const auto known = followers.find(context);
        if (seen.insert(context).second && is_next_certain[i] && known != followers.end() &&
            known->second.is_only && known->second.symbol == symbols[i + 1]) {
          scored.push_back(begin + i);
          evidence.push_back(known->second.position);
        }
        positions.emplace_back(std::move(context), begin + i + 1);
      }
      for (const auto& [context, position] : positions)
        add_follower(followers, context, sequence[position], position);
    }
    Example example = predict_next(std::move(sequence), std::move(scored), options_.loss);
    example.segments = segments_ended_by(kSeparator, example.tokens);
    set_evidence(example, std::move(evidence));
    return example;
  }

  static void add_follower(std::map<Context, Follower>& followers, const Context& context, int symbol,
                           int position) {
    Follower& follower = followers.try_emplace(context, Follower{.symbol = symbol}).first->second;
    follower.is_only = follower.is_only && follower.symbol == symbol;
    follower.position = position;
  }
};

const RegisterTask<RandomAutomaton> registered{kInfo};

}  // namespace
}  // namespace posbench::random_automaton
