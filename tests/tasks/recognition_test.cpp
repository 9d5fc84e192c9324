// Tests formal languages, and the task that accepts their words.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "harness/check/oracles.h"
#include "tasks/parts/language.h"
#include "tasks/parts/languages.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

std::string text_of(const Language& language, const Word& word) {
  std::string text;
  for (const int symbol : word) text += language.symbols()[static_cast<size_t>(symbol)];
  return text;
}

bool is_doubled(const std::string& text) {
  return text.size() % 2 == 0 && text.substr(0, text.size() / 2) == text.substr(text.size() / 2);
}

/// Returns true for moves on a cycle of five places and then the place where they end.
bool ends_at_its_place(const std::string& text) {
  static const std::regex kForm("[<=>]*[0-4]");
  if (!std::regex_match(text, kForm)) return false;
  const auto moves = [&text](char move) { return static_cast<int>(std::ranges::count(text, move)); };
  return (5 * static_cast<int>(text.size()) + moves('>') - moves('<') - (text.back() - '0')) % 5 == 0;
}

bool is_true_modulo_5(const std::string& text) {
  static const std::regex kForm("[0-4]([-+*][0-4])*=[0-4]");
  if (!std::regex_match(text, kForm)) return false;
  int value = text[0] - '0';
  for (size_t n = 1; text[n] != '='; n += 2) {
    const int x = text[n + 1] - '0';
    value = ((text[n] == '+' ? value + x : text[n] == '-' ? value - x : value * x) % 5 + 5) % 5;
  }
  return value == text.back() - '0';
}

/// Removes innermost pairs of brackets as often as it can, which is three times at most for a word.
bool is_nested(std::string text) {
  for (int depth = 0; depth < 3; ++depth) {
    text = std::regex_replace(text, std::regex(R"((\(0(x*)\)0)|(\(1(x*)\)1))"), "x");
  }
  return text.find_first_not_of('x') == std::string::npos;
}

/// Returns by another method than the languages whether the text is a word.
bool is_word(const std::string& language, const std::string& text) {
  const auto matches = [&text](const char* expression) { return std::regex_match(text, std::regex(expression)); };
  const auto count = [&text](char symbol) { return std::ranges::count(text, symbol); };
  if (language == "no_triples") return !std::regex_search(text, std::regex("000|111"));
  if (language == "even_pairs") return matches("|.|(.).*\\1");
  if (language == "repeat_01") return matches("(01)*");
  if (language == "parity") return matches("0*1(0*10*1)*0*");
  if (language == "first") return matches("1.*");
  if (language == "cycle_navigation") return ends_at_its_place(text);
  if (language == "modular_arithmetic") return is_true_modulo_5(text);
  if (language == "dyck_2_3") return is_nested(text);
  if (language == "majority") return 2 * count('1') > std::ssize(text);
  if (language == "unmarked_reversal")
    return text.size() % 2 == 0 && text == std::string(text.rbegin(), text.rend());
  if (language == "marked_copy") return matches("([01]*)#\\1");
  std::string filled = text;  // missing_duplicate
  std::ranges::replace(filled, '_', '1');
  return count('_') == 1 && is_doubled(filled);
}

/// Calls f for each string that one edit makes of the word and that has up to `longest` symbols.
void for_each_edit(const Word& word, int symbols, size_t longest, const std::function<void(const Word&)>& f) {
  for (size_t at = 0; at <= word.size(); ++at) {
    const auto place = static_cast<std::ptrdiff_t>(at);
    for (int symbol = 0; symbol < symbols; ++symbol) {
      Word edited = word;
      if (at < word.size()) {
        edited[at] = symbol;
        f(edited);
      }
      if (word.size() == longest) continue;
      edited = word;
      edited.insert(edited.begin() + place, symbol);
      f(edited);
    }
    if (at == word.size()) continue;
    Word shorter = word;
    shorter.erase(shorter.begin() + place);
    f(shorter);
  }
}

/// Returns the edit distances of all strings of up to `longest` symbols to the words among them.
std::map<Word, int> distances_to_words(const Language& language, const std::string& name, size_t longest) {
  const int symbols = static_cast<int>(language.symbols().size());
  std::deque<Word> all{{}}, open;
  for (size_t n = 0; n < all.size(); ++n) {
    if (is_word(name, text_of(language, all[n]))) open.push_back(all[n]);
    if (all[n].size() == longest) continue;
    for (int symbol = 0; symbol < symbols; ++symbol) {
      all.push_back(all[n]);
      all.back().push_back(symbol);
    }
  }
  std::map<Word, int> distances;
  for (const Word& word : open) distances[word] = 0;
  for (; !open.empty(); open.pop_front()) {
    const int distance = distances.at(open.front()) + 1;
    for_each_edit(open.front(), symbols, longest, [&](const Word& edited) {
      if (distances.try_emplace(edited, distance).second) open.push_back(edited);
    });
  }
  return distances;
}

int index_of(const std::string& language) {
  return static_cast<int>(std::ranges::find(language_names(), language) - language_names().begin());
}

std::string without_end(const TextTask& task, const Example& e) {
  std::string text;
  for (size_t t = 0; t + 1 < e.tokens.size(); ++t) text += task.task().token_text(e.tokens[t]);
  return text;
}

}  // namespace

TEST_CASE("a language contains its words, and the edit distance is the number of edits to the nearest") {
  const std::string name = GENERATE(from_range(language_names()));
  CAPTURE(name);
  const auto language = make_language(index_of(name), 20);
  const size_t symbols = language->symbols().size(), longest = symbols == 2 ? 9 : symbols < 5 ? 6 : 4;
  for (const auto& [string, distance] : distances_to_words(*language, name, longest)) {
    CAPTURE(string);
    REQUIRE(language->contains(string) == (distance == 0));
    // A word with more than `longest` symbols may be nearer.
    if (distance <= static_cast<int>(longest + 1 - string.size())) {
      REQUIRE(language->edit_distance(string) == distance);
    } else {
      REQUIRE(language->edit_distance(string) <= distance);
      REQUIRE(language->edit_distance(string) > static_cast<int>(longest - string.size()));
    }
  }
}

TEST_CASE("the symbols that may follow a prefix are those of the words with this prefix") {
  const std::string name = GENERATE(from_range(language_names()));
  CAPTURE(name);
  const auto language = make_language(index_of(name), 20);
  const size_t symbols = language->symbols().size(), longest = symbols > 4 ? 5 : 14 - 2 * symbols;
  std::map<Word, Followers> expected;  // the followers of each prefix, by all words of up to `longest` symbols
  std::deque<Word> all{{}};
  for (; !all.empty(); all.pop_front()) {
    const Word string = all.front();
    if (is_word(name, text_of(*language, string))) {
      expected[string] |= 1U << symbols;
      for (size_t t = 0; t < string.size(); ++t)
        expected[{string.begin(), string.begin() + static_cast<std::ptrdiff_t>(t)}] |= 1U << string[t];
    }
    for (size_t symbol = 0; string.size() < longest && symbol < symbols; ++symbol) {
      all.push_back(string);
      all.back().push_back(static_cast<int>(symbol));
    }
  }
  const std::vector<Followers> sets = language->all_followers();
  for (const auto& [prefix, followers] : expected) {
    // Each prefix of a third of the length has a word of up to `longest` symbols after each of its symbols.
    if (3 * prefix.size() > longest) continue;
    CAPTURE(prefix);
    REQUIRE(language->followers(prefix) == followers);
    REQUIRE(std::ranges::find(sets, followers) != sets.end());
  }
  CHECK(std::ranges::is_sorted(sets));
}

TEST_CASE("next_symbols adds the sets of followers as targets of words, and scores the answer alone") {
  const TextTask task("recognition:next_symbols=true,length=4");
  CHECK(task.task().answers() == 2 + 3);
  int words = 0;
  for (int n = 0; n < 100; ++n) {
    const Example e = task.draw(4, n);
    CHECK(e.scored == std::vector<int>{4});
    if (task.answer(e) == "no") {
      CHECK(std::ranges::count(e.targets, kIgnore) == 4);
    } else if (task.question(e) == "1 1 0 1") {
      CHECK(task.text({e.targets.begin(), e.targets.end() - 1}) == "{01$} {0$} {01$} {01$}");
      ++words;
    }
  }
  CHECK(words > 0);
  CHECK_THROWS_WITH(
      make("recognition:next_symbols=true,folder=x"),
      "task 'recognition': next_symbols needs one of the languages, and folder gives strings; leave one of "
      "them out");
}

TEST_CASE("accepted strings are words, rejected ones are not, and both are equally frequent at each length") {
  const std::string name = GENERATE(from_range(language_names()));
  const std::string negatives = GENERATE("mixed", "edited", "sampled");
  CAPTURE(name, negatives);
  const TextTask task("recognition:length=2..16,language=" + name + ",negatives=" + negatives);
  const auto language = make_language(index_of(name), 16);
  std::map<int, int> total, accepted;
  for (int n = 0; n < 600; ++n) {
    const Example e = task.draw(2 + n % 15, n);
    const bool yes = task.answer(e) == "yes";
    REQUIRE(is_word(name, without_end(task, e)) == yes);
    REQUIRE((e.distances.front() == 0) == yes);
    ++total[e.length];
    accepted[e.length] += yes;
  }
  for (const auto& [length, samples] : total)  // within five standard errors
    CHECK(std::abs(2 * accepted[length] - samples) <= 5 * std::sqrt(samples));
}

TEST_CASE("a string that one edit makes is at distance 1") {
  const TextTask task("recognition:negatives=edited,edits=1");
  for (int n = 0; n < 200; ++n) {
    const Example e = task.draw(24, n);
    CHECK(e.distances.front() == (task.answer(e) == "yes" ? 0 : 1));
  }
}

TEST_CASE("the oracle of recognition states the edit distance of the example in its file") {
  const TextTask task("recognition");
  CHECK(oracles().at("recognition").distances({.tokens = task.ids("1 1 0 1 1 1 1 0 ?"), .scored = {8}}) ==
        std::vector<int>{1});
}

TEST_CASE("languages accept and reject strings as the data of FLaRe do") {
  const auto [name, text, accepted] =
      GENERATE(table<std::string, std::string, bool>({{"even_pairs", "0 1 0", true},
                                                      {"even_pairs", "1 0 0 0 1 1", true},
                                                      {"even_pairs", "0 0 1", false},
                                                      {"parity", "1 1 1 0 0 0", true},
                                                      {"parity", "0 1 1 1 0", true},
                                                      {"parity", "0 1 1", false},
                                                      {"first", "1 0 1 0 0 0", true},
                                                      {"first", "0 0 0", false},
                                                      {"repeat_01", "0 1 0 1", true},
                                                      {"repeat_01", "0 0 1", false},
                                                      {"cycle_navigation", "= = < 4", true},
                                                      {"cycle_navigation", "> = > < < 0", true},
                                                      {"cycle_navigation", "= = > < > 1", true},
                                                      {"cycle_navigation", "= > > 2 1", false},
                                                      {"modular_arithmetic", "0 + 4 = 4", true},
                                                      {"modular_arithmetic", "1 * 1 + 4 * 1 = 0", true},
                                                      {"modular_arithmetic", "1 - * 2 = 1", false},
                                                      {"dyck_2_3", "(1 (0 (0 )0 )0 )1", true},
                                                      {"dyck_2_3", "(0 )0", true},
                                                      {"dyck_2_3", "(0 (0 )1", false},
                                                      {"majority", "1 0 1 0 1 1 1 0 1 0 1 1 1 0 1 1", true},
                                                      {"majority", "1 0 0 1 0 1 1 0 1 0", false},
                                                      {"unmarked_reversal", "0 1 1 0", true},
                                                      {"unmarked_reversal", "1 0 0 1", true},
                                                      {"unmarked_reversal", "0 1 0", false},
                                                      {"unmarked_reversal", "1", false},
                                                      {"marked_copy", "0 1 # 0 1", true},
                                                      {"marked_copy", "0 0 # 0 0", true},
                                                      {"marked_copy", "1 # 0 1 # 1 # 1", false},
                                                      {"missing_duplicate", "1 1 _ 1", true},
                                                      {"missing_duplicate", "0 1 0 _", true},
                                                      {"missing_duplicate", "_ 1", true},
                                                      {"missing_duplicate", "_ 1 _ 0 0 _", false},
                                                      {"missing_duplicate", "1 1 1 1 0 1 1 _", false}}));
  CAPTURE(name, text);
  Word word = TextTask("recognition:language=" + name).ids(text);
  for (int& symbol : word) symbol -= 3;  // after the ids of no, yes and ?
  CHECK(make_language(index_of(name), 20)->contains(word) == accepted);
}

TEST_CASE("the hole of a doubled string is in its first copy as often as in its second") {
  const auto language = make_language(index_of("missing_duplicate"), 20);
  Rng rng = make_rng(0, "holes");
  int in_first = 0;
  for (int n = 0; n < 200; ++n) in_first += text_of(*language, language->draw(8, rng)).find('_') < 4;
  CHECK(in_first > 70);
  CHECK(in_first < 130);
}

namespace {

/// A folder in the form of FLaRe, removed with it.
struct Folder {
  Folder() {
    add("", "0 1\n1 0 b\n\n1 1\n", "1\n0\n1\n0\n", "2\n\n");
    add("datasets/validation-short", "0 0\n", "0\n", "1\n");
    add("datasets/test", "b 1 0\n0 b\n1 0 0 1 1\n", "1\n0\n1\n", "3\n");
  }
  void add(const std::string& set, const std::string& strings, const std::string& labels,
           const std::string& edits) {
    std::filesystem::create_directories(path / set);
    std::ofstream(path / set / "main.tok", std::ios::binary) << strings;
    std::ofstream(path / set / "labels.txt", std::ios::binary) << labels;
    std::ofstream(path / set / "num-edits.txt", std::ios::binary) << edits;
  }
  TemporaryDirectory directory;
  std::filesystem::path path = directory / "flare";
};

}  // namespace

TEST_CASE("strings are read from a folder in the form of FLaRe, by purpose and length") {
  const Folder folder;
  const TextTask task("recognition:length=1..3,folder=" + folder.path.string());
  const auto draw = [&](Purpose purpose, int length) {
    std::map<std::string, int> seen;  // the strings with their answers, and the distances
    for (std::uint64_t n = 0; n < 50; ++n) {
      Rng rng = make_rng(0, "folder", n);
      const Example e = task.task().sample_of(purpose, length, rng);
      CHECK(e.length == static_cast<int>(e.tokens.size()) - 1);
      seen[task.question(e) + " " + task.answer(e)] = e.distances.front();
    }
    return seen;
  };
  using Seen = std::map<std::string, int>;
  CHECK(draw(Purpose::train, 2) == Seen{{"0 1 yes", 0}, {"1 1 no", 2}});
  CHECK(draw(Purpose::train, 3) == Seen{{"1 0 b no", 2}});
  CHECK(draw(Purpose::validation, 3) == Seen{{"0 0 no", 1}});
  CHECK(draw(Purpose::test, 3) == Seen{{"b 1 0 yes", 0}});
  CHECK(draw(Purpose::test, 1) == Seen{{"0 b no", 3}});
  CHECK(task.task().vocabulary() == 3 + 3);
  const TextTask longer("recognition:length=4..6,folder=" +
                        folder.path.string());  // only the tests have such strings
  CHECK(longer.question(longer.draw(5)) == "1 0 0 1 1");
}

TEST_CASE("faulty folders and lengths without words are refused") {
  Folder folder;
  const std::string spec = "recognition:folder=" + folder.path.string();
  folder.add("datasets/test", "0 1\n", "1\n0\n", "\n");
  CHECK_THROWS_WITH(make(spec), "task 'recognition': file '" +
                                    (folder.path / "datasets/test/labels.txt").string() +
                                    "' has 2 lines, but main.tok has 1; each string needs a label");
  folder.add("datasets/test", "0 1\n", "0\n", "one\n");
  CHECK_THROWS_WITH(make(spec), "task 'recognition': file '" +
                                    (folder.path / "datasets/test/num-edits.txt").string() +
                                    "' line 1 is 'one', but it is a number of edits, or empty");
  std::filesystem::remove_all(folder.path / "datasets/test");
  CHECK_THROWS_WITH(make(spec), "task 'recognition': folder '" + folder.path.string() +
                                    "' has no strings in datasets/test-short-held-out or datasets/test");
  CHECK_THROWS_WITH(
      make("recognition:language=marked_copy,length=4"),
      "task 'recognition': language marked_copy has no lengths among 4 at which strings are accepted "
      "and rejected; choose other lengths");
}
