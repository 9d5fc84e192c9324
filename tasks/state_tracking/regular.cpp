// Predicts the symbols that may follow each prefix of a word of a regular language.
//
//   tomita4 0 0 1 0        {01$} {1$} {01$} {01$}         no three zeros in a row
//   012_02 0 2 1 2         {012$} {012$} {012} {012}      a 0, then any number of 2s, at the end
//
// The first token names the language. The set of a prefix has the symbols after which it is still the beginning of
// a word, and $ if it is a word. The answer is the index of the set in the order of `token_text`. Words with
// sections have sections of uniform lengths. In other words, each symbol is uniform among those that may follow,
// and some symbols are repeated in runs of uniform length. A position reads a symbol, never an answer.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/registry.h"

namespace posbench::regular {
namespace {

const TaskInfo kInfo{
    .name = "regular",
    .family = "state_tracking",
    .aspects = {Aspect::state_tracking},
    .definition =
        "The model reads a word of a regular language, or the beginning of one, and answers after each symbol "
        "which symbols may follow, including the end of the word.",
    .requirement =
        "The model has to know the state of an automaton: by the last symbols (tomita2, tomita4), by a count up to "
        "a limit (d2 to d12), by whether a symbol occurred (ab_d_bc), by a position modulo a number (aa_star), by "
        "the last symbol other than 2 (012_02), or by a parity of symbols (tomita3, tomita5, tomita6).",
    .source =
        "Huang et al. 2024, arXiv:2410.02140; code lacoco-lab/length_generalization, formal_lang_suite; after "
        "Bhattamishra et al. 2020, arXiv:2009.11264",
    .published_name = "the 17 regular languages of the formal language suite",
    .published =
        "The code (visualise/data_local.py) marks languages by whether a C-RASP program was found, which predicts "
        "that a transformer generalizes to longer words. It has the accuracy on words of the second and the third "
        "bin of lengths, in percent; a word is right if all its answers are. "
        "C-RASP without positions has a program for d2, d3, d4, d12, tomita1, tomita2 and aa_bb_cc_dd_ee (100 and "
        "100 with learned absolute positions and without positions), ab_d_bc (99.8 and 98.5 with both) and tomita7 "
        "(94.2 and 93.2 with positions, 87.5 and 76.2 without). "
        "C-RASP[periodic, local], for models with positions, also has one for aa_star (100 and 100), aaaa_star "
        "(92.3 and 86.7), abab_star (89.4 and 82.3) and tomita4 (85.4 and 84.4); without positions, tomita4 has "
        "16.5 and 0, the others 0 and 0. "
        "None was found for 012_02 (24.4 and 1.2 with positions, 11.2 and 0 without), tomita3 (7.7 and 0), tomita5 and tomita6 (0 and "
        "0). "
        "The code trains up to lengths 50 to 500 and tests in bins of up to three times as much. Here all "
        "languages have 2 to 32 symbols, words may be cut off, and 012_02 has runs of up to 8 twos everywhere, so "
        "that the last symbol does not tell the answer. "
        "The answers of the code are parts of these sets that identify the state, except in two places: tomita3 "
        "forbids a 0 after an odd run of ones, also if an even run of zeros is between, and 012_02 does not let a "
        "word end in 0.",
    .length_unit = "symbols",
    .causal_only = true,
    .splits = splits_to_three_times_the_length(),
    .largest_answer_fraction = 0.6,
    .shortcuts = {.token = 0.8, .neighbor = 0.9, .count = 0.8, .position = 0.65},
};

constexpr std::string_view kSymbols = "012abcde";

/// An automaton from whose every state a word can be completed. State 0 is the first.
struct Automaton {
  std::string symbols;
  std::vector<std::string> next;  // for each state, the state after each symbol as a letter from a on; '.': none
  std::string accepting;          // the states at the ends of words
  std::vector<std::string> sections;  // the sections of all words, "01*": any number of these symbols; or empty
  std::string repeated = "";  // without sections: the symbols that are drawn in runs of up to `longest_run`
  int longest_run = 1;
};

/// Returns the automaton of words over a and b with 0 to `depth` more a than b in each prefix, and as many at the
/// end.
Automaton bounded_dyck(int depth) {
  Automaton automaton{.symbols = "ab", .accepting = "a", .repeated = "ab", .longest_run = depth};
  for (int open = 0; open <= depth; ++open) {
    const char deeper = static_cast<char>('a' + open + 1), higher = static_cast<char>('a' + open - 1);
    automaton.next.push_back({open == depth ? '.' : deeper, open == 0 ? '.' : higher});
  }
  return automaton;
}

struct Language {
  std::string name;
  Automaton automaton;
};
const std::vector<Language>& languages() {
  static const std::vector<Language> all{
      {"tomita1", {.symbols = "1", .next = {"a"}, .accepting = "a"}},          // 1*
      {"tomita2", {.symbols = "01", .next = {".b", "a."}, .accepting = "a"}},  // (10)*
      {"tomita3",
       {.symbols = "01",
        .next = {"ab", "da", "db", "c."},
        .accepting = "abc",
        .repeated = "01",
        .longest_run = 4}},  // no odd run of zeros directly after an odd run of ones
      {"tomita4", {.symbols = "01", .next = {"ba", "ca", ".a"}, .accepting = "abc"}},  // no three zeros in a row
      {"tomita5",
       {.symbols = "01",
        .next = {"bc", "ad", "da", "cb"},
        .accepting = "a"}},  // even numbers of zeros and of ones
      {"tomita6",
       {.symbols = "01",
        .next = {"bc", "ca", "ab"},
        .accepting = "a"}},  // the numbers of zeros and of ones differ by a multiple of 3
      {"tomita7",
       {.symbols = "01",
        .next = {"ab", "cb", "cd", ".d"},
        .accepting = "abcd",
        .sections = {"0*", "1*", "0*", "1*"}}},  // 0*1*0*1*
      {"aa_star", {.symbols = "a", .next = {"b", "a"}, .accepting = "a"}},
      {"aaaa_star", {.symbols = "a", .next = {"b", "c", "d", "a"}, .accepting = "a"}},
      {"abab_star", {.symbols = "ab", .next = {"b.", ".c", "d.", ".a"}, .accepting = "a"}},
      {"d2", bounded_dyck(2)},
      {"d3", bounded_dyck(3)},
      {"d4", bounded_dyck(4)},
      {"d12", bounded_dyck(12)},
      {"aa_bb_cc_dd_ee",
       {.symbols = "abcde",
        .next = {"b....", "bc...", ".cd..", "..de.", "...ef", "....f"},
        .accepting = "f",
        .sections = {"a", "a*", "b", "b*", "c", "c*", "d", "d*", "e", "e*"}}},  // aa*bb*cc*dd*ee*
      {"ab_d_bc",
       {.symbols = "abcd",
        .next = {"aa.b", ".bb."},
        .accepting = "b",
        .sections = {"ab*", "d", "bc*"}}},  // {a,b}*d{b,c}*
      {"012_02",
       {.symbols = "012",
        .next = {"baa", "bab"},
        .accepting = "b",
        .repeated = "2",
        .longest_run = 8}},  // {0,1,2}*02*
  };
  return all;
}

std::vector<std::string> language_names() {
  std::vector<std::string> names;
  for (const Language& language : languages()) names.push_back(language.name);
  return names;
}

struct Options {
  Integers length{2, 32};
  size_t language = languages().size() - 1;  // index: 012_02
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "symbols");
    o.choice("language", language, language_names(), "the language of the words");
  }
};

class Regular final : public BasicTask<Options> {
 public:
  Regular(const Options& options, Layout layout)
      : BasicTask(options, layout), automaton_(languages()[options.language].automaton) {
    for (int state = 0; state < static_cast<int>(automaton_.next.size()); ++state) {
      set_of_state_.push_back(kIgnore);
      const char letter = static_cast<char>('a' + state);
      const auto leads_here = [letter](const std::string& next) { return next.find(letter) != std::string::npos; };
      if (std::ranges::none_of(automaton_.next, leads_here)) continue;  // before the first symbol
      const std::string set = followers(state) + (leads_here(automaton_.accepting) ? "$" : "");
      const auto known = std::ranges::find(sets_, set);
      set_of_state_.back() = static_cast<int>(known - sets_.begin());
      if (known == sets_.end()) sets_.push_back(set);
    }
  }

  int vocabulary() const override { return kBegin + static_cast<int>(languages().size()); }
  int answers() const override { return static_cast<int>(sets_.size()); }
  double chance_level() const override { return 1.0 / answers(); }
  std::string token_text(int token) const override {
    if (token < answers()) return "{" + sets_[token] + "}";
    if (token < kSymbol) return fmt::format("-{}", token);
    return token < kBegin ? std::string(1, kSymbols[token - kSymbol]) : languages()[token - kBegin].name;
  }

  Example sample(int length, Rng& rng) const override {
    Example example{.tokens = {kBegin + static_cast<int>(options_.language)}, .targets = {kIgnore}};
    int state = 0;
    for (const char symbol : automaton_.sections.empty() ? draw_runs(length, rng) : draw_sections(length, rng)) {
      state = after(state, symbol);
      example.scored.push_back(static_cast<int>(example.tokens.size()));
      example.tokens.push_back(kSymbol + static_cast<int>(kSymbols.find(symbol)));
      example.targets.push_back(set_of_state_[state]);
    }
    example.segments.assign(example.tokens.size(), 0);
    return example;
  }

 private:
  static constexpr int kSets = 5, kSymbol = kSets, kBegin = kSymbol + static_cast<int>(kSymbols.size());

  /// Returns the state after the symbol, or a negative number if it may not follow.
  int after(int state, char symbol) const {
    const char next = automaton_.next[state][automaton_.symbols.find(symbol)];
    return next == '.' ? -1 : next - 'a';
  }

  std::string followers(int state) const {
    std::string symbols;
    for (const char symbol : automaton_.symbols) {
      if (after(state, symbol) >= 0) symbols += symbol;
    }
    return symbols;
  }

  std::string draw_runs(int length, Rng& rng) const {
    std::string word;
    int state = 0;
    while (static_cast<int>(word.size()) < length) {
      const std::string symbols = followers(state);
      const char symbol = symbols[uniform(rng, 0, static_cast<int>(symbols.size()) - 1)];
      const bool is_repeated = automaton_.repeated.find(symbol) != std::string::npos;
      const int run = is_repeated ? uniform(rng, 1, automaton_.longest_run) : 1;
      for (int n = 0; n < run && static_cast<int>(word.size()) < length && after(state, symbol) >= 0; ++n) {
        word += symbol;
        state = after(state, symbol);
      }
    }
    return word;
  }

  /// Sections of any length share, with uniform borders, the symbols that the sections of one symbol leave. A
  /// shorter word is cut off.
  std::string draw_sections(int length, Rng& rng) const {
    const auto is_repeated = [](const std::string& section) { return section.back() == '*'; };
    const int repeated =
        static_cast<int>(std::count_if(automaton_.sections.begin(), automaton_.sections.end(), is_repeated));
    const int rest = std::max(length - static_cast<int>(automaton_.sections.size()) + repeated, 0);
    std::vector<int> borders{rest};
    for (int n = 1; n < repeated; ++n) borders.push_back(uniform(rng, 0, rest));
    std::sort(borders.begin(), borders.end());
    std::string word;
    size_t border = 0;
    int last_border = 0;
    for (const std::string& section : automaton_.sections) {
      if (!is_repeated(section)) {
        word += section;
        continue;
      }
      for (; last_border < borders[border]; ++last_border) {
        word += section[uniform(rng, 0, static_cast<int>(section.size()) - 2)];
      }
      ++border;
    }
    return word.substr(0, length);
  }

  Automaton automaton_;
  std::vector<std::string> sets_;  // the answers
  std::vector<int> set_of_state_;  // their indices
};

const RegisterTask<Regular> registered{kInfo};

}  // namespace
}  // namespace posbench::regular
