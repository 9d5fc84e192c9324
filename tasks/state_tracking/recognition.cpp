// Accepts the words of a formal language and rejects other strings.
//
//   1 1 0 1 0 0 1 0 ?   ->   yes      no symbol three times in a row
//   1 1 0 1 1 1 1 0 ?   ->   no       one edit away from a word
//
// Half of the strings are words. A quarter are words that random edits have changed, each of which inserts,
// replaces or deletes one symbol. A quarter are uniform strings. A rejected string that happens to be a word is
// drawn again. Words and other strings are equally frequent at each length. The distance is the least number of
// edits to a word; 0 for a word. Only lengths that have both words and other strings are used. Another length is
// replaced by the next smaller one of these, or by the smallest.
//
// With next_symbols, each symbol of a word also has a target: the set of symbols that may follow, with $ for the
// end of the word. These targets are trained and not scored.
//
//   1 1 0 1             {01$} {0$} {01$} {01$}
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/parts/labeled_strings.h"
#include "tasks/parts/language.h"
#include "tasks/parts/languages.h"
#include "tasks/registry.h"

namespace posbench::recognition {
namespace {

const TaskInfo kInfo{
    .name = "recognition",
    .family = "state_tracking",
    .aspects = {Aspect::state_tracking},
    .definition = "The model reads a string and answers whether it is a word of a formal language.",
    .requirement =
        "By default, attention has to find three equal symbols in a row at any place, by relative positions. In "
        "other languages, the model has to follow an automaton, count, or compare symbols at distances that grow "
        "with the length.",
    .source = "Butoi et al. 2025, arXiv:2411.07107; code rycolab/neural-network-recognizers; data rycolab/flare",
    .published_name = "FLaRe (Formal Language Recognition)",
    .published =
        "FLaRe has 18 languages, of which 11 are here. It trains on 10 000 strings of up to 40 symbols, validates on "
        "up to 40 or 80 and tests on up to 500. Words and edits have the distributions of its code, but here the "
        "length of a rejected string is drawn first, and the edits are drawn so that they lead to it. "
        "`folder` reads the files of one language (length=1..40), with held-out strings as tests. The distance is "
        "then the number of edits that were made; for a string that was drawn at random it is the length. "
        "next_symbols=true is the additional target of FLaRe's next-symbol loss; there it has a weight, and each symbol "
        "is a decision, while here a set is one of the possible sets, and all targets have the same weight. "
        "The default language is ours: the symbols have the same frequencies in it, and it has words "
        "of all lengths.",
    .length_unit = "symbols",
    .distance_unit = "edits to a word",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_near",
                {{"negatives", "edited"}, {"edits", "1"}},
                "rejected strings are one edit away from a word, at the trained lengths"},
               {"ood_length2", {{"length", "1x..2x"}}, "up to twice the trained lengths"},
               {"ood_length3", {{"length", "2x..3x"}}, "up to three times the trained lengths"}},
    .largest_answer_fraction = 0.5,
    .shortcuts = {.token = 0.53, .neighbor = 0.55, .count = 0.57},
};

enum class Negatives { mixed, edited, sampled };

struct Options {
  Integers length{12, 32};
  int language = 0;
  Negatives negatives = Negatives::mixed;
  int edits = 0;
  bool next_symbols = false;
  std::string folder;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "symbols");
    o.choice("language", language, language_names(), "the language of the words");
    o.choice("negatives", negatives, {"mixed", "edited", "sampled"},
             "rejected strings: words after edits, uniform strings, or either with probability 1/2");
    o.integer("edits", edits, 0, 1000, "edits of a word; 0: geometric, each one more with probability 1/2");
    o.flag("next_symbols", next_symbols,
           "also train on the symbols that may follow each symbol of a word; meant for causal models");
    o.text("folder", folder, "a path", "strings and labels in the form of FLaRe, instead of a language");
  }
};

class Recognition final : public BasicTask<Options> {
 public:
  Recognition(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.next_symbols && !options.folder.empty()) {
      throw InputError(
          "task 'recognition': next_symbols needs one of the languages, and folder gives strings; leave one of them "
          "out");
    }
    if (!options.folder.empty()) {
      strings_ = read_labeled_strings(options.folder);
      return;
    }
    language_ = make_language(options.language, options.length.max() + kMostDeletions);
    if (options.next_symbols) sets_ = language_->all_followers();
    std::vector<int> declared = options.length.values();
    std::ranges::sort(declared);
    for (const int length : declared) {
      if (has_both(length)) lengths_.push_back(length);
    }
    if (lengths_.empty()) {
      throw InputError(
          fmt::format("task 'recognition': language {} has no lengths among {} at which strings are accepted and "
                      "rejected; choose other lengths",
                      language_names()[options.language], options.length.text()));
    }
  }

  int vocabulary() const override { return first_symbol() + static_cast<int>(symbols().size()); }
  int answers() const override { return kSet + static_cast<int>(sets_.size()); }
  double chance_level() const override { return 0.5; }
  std::string token_text(int token) const override {
    if (token < kSet) return token == 1 ? "yes" : "no";
    if (token < blank()) return set_text(sets_[static_cast<size_t>(token - kSet)]);
    return token == blank() ? "?" : symbols()[static_cast<size_t>(token - first_symbol())];
  }

  bool has_separate_tests() const override { return strings_ != nullptr; }
  /// Strings of lengths that occur only in tests are drawn from the tests.
  Example sample(int length, Rng& rng) const override {
    const bool only_in_tests = strings_ && lengths_in(strings_->training).empty();
    return sample_of(only_in_tests ? Purpose::test : Purpose::train, length, rng);
  }

  Example sample_of(Purpose purpose, int length, Rng& rng) const override {
    if (strings_) return draw_string(strings_->part(purpose), length, rng);
    const auto next = std::ranges::upper_bound(lengths_, length);
    length = next == lengths_.begin() ? *next : *(next - 1);
    const bool positive = bernoulli(rng, 0.5);
    const Word word = positive ? language_->draw(length, rng) : draw_negative(length, rng);
    return example(word, positive, positive ? 0 : language_->edit_distance(word));
  }

 private:
  static constexpr int kSet = 2;  // the first of the sets, after no and yes
  static constexpr int kMostDeletions = 64;
  enum Edit { kInsert, kReplace, kDelete };

  int blank() const { return answers(); }
  int first_symbol() const { return blank() + 1; }

  std::string set_text(Followers set) const {
    std::string text = "{";
    for (size_t n = 0; n < symbols().size(); ++n) text += (set >> n & 1U) != 0 ? symbols()[n] : "";
    return text + ((set >> symbols().size() & 1U) != 0 ? "$}" : "}");
  }

  const std::vector<std::string>& symbols() const { return strings_ ? strings_->symbols : language_->symbols(); }

  /// Returns true if there are words of this length, and other strings. It changes only the first three symbols,
  /// which is enough to find another string of every language here.
  bool has_both(int length) const {
    if (!language_->has_length(length)) return false;
    const int symbols = static_cast<int>(language_->symbols().size());
    int strings = 1;
    for (int n = 0; n < std::min(length, 3); ++n) strings *= symbols;
    for (int code = 0; code < strings; ++code) {
      Word word;
      for (int n = 0, rest = code; n < length; ++n, rest /= symbols) word.push_back(rest % symbols);
      if (!language_->contains(word)) return true;
    }
    return false;
  }

  Word draw_negative(int length, Rng& rng) const {
    const bool edited =
        options_.negatives == Negatives::mixed ? bernoulli(rng, 0.5) : options_.negatives == Negatives::edited;
    const int symbols = static_cast<int>(language_->symbols().size());
    for (;;) {
      const Word word = edited ? draw_edited(length, rng) : uniform_tokens(rng, length, 0, symbols - 1);
      if (!language_->contains(word)) return word;
    }
  }

  /// Returns a word after edits that lead to this length.
  Word draw_edited(int length, Rng& rng) const {
    for (;;) {
      int count = options_.edits;
      if (count == 0) {
        for (count = 1; count < kMostDeletions && bernoulli(rng, 0.5);) ++count;
      }
      const std::vector<int> edits = uniform_tokens(rng, count, kInsert, kDelete);
      const auto number = [&](Edit edit) { return static_cast<int>(std::ranges::count(edits, edit)); };
      const int before = length - number(kInsert) + number(kDelete);
      if (before < 0 || before > options_.length.max() + kMostDeletions || !language_->has_length(before))
        continue;
      Word word = language_->draw(before, rng);
      if (apply(edits, word, rng)) return word;
    }
  }

  /// Returns false if the word has no symbol to replace or to delete.
  bool apply(const std::vector<int>& edits, Word& word, Rng& rng) const {
    const int symbols = static_cast<int>(language_->symbols().size());
    for (const int edit : edits) {
      const int size = static_cast<int>(word.size());
      if (edit == kInsert) {
        word.insert(word.begin() + uniform(rng, 0, size), uniform(rng, 0, symbols - 1));
      } else if (size == 0) {
        return false;
      } else if (edit == kReplace) {
        int& symbol = word[uniform(rng, 0, size - 1)];
        const int other = uniform(rng, 0, symbols - 2);
        symbol = other + (other >= symbol);
      } else {
        word.erase(word.begin() + uniform(rng, 0, size - 1));
      }
    }
    return true;
  }

  std::vector<int> lengths_in(const LabeledStrings::ByLength& part) const {
    std::vector<int> known;
    for (const int declared : options_.length.values()) {
      if (part.contains(declared)) known.push_back(declared);
    }
    return known;
  }

  Example draw_string(const LabeledStrings::ByLength& part, int length, Rng& rng) const {
    const std::vector<int> known = lengths_in(part);
    if (known.empty()) {
      throw InputError(fmt::format("task 'recognition': folder '{}' has no strings of length {}; change length",
                                   options_.folder, options_.length.text()));
    }
    const auto nearest =
        std::ranges::min_element(known, {}, [length](int n) { return std::pair(std::abs(n - length), n); });
    const std::vector<LabeledString>& strings = part.at(*nearest);
    const LabeledString& drawn = strings[uniform(rng, 0, static_cast<int>(strings.size()) - 1)];
    return example(drawn.symbols, drawn.positive, drawn.edits == kSampled ? *nearest : drawn.edits);
  }

  int target_after(const Word& prefix) const {
    const auto set = std::ranges::find(sets_, language_->followers(prefix));
    return kSet + static_cast<int>(set - sets_.begin());
  }

  Example example(const Word& word, bool positive, int distance) const {
    std::vector<int> question;
    for (const int symbol : word) question.push_back(first_symbol() + symbol);
    Example e = ask(layout_, std::move(question), blank(), {positive ? 1 : 0});
    if (options_.next_symbols && positive) {
      for (size_t t = 0; t < word.size(); ++t) e.targets[t] = target_after({word.begin(), word.begin() + t + 1});
    }
    e.distances = {distance};
    e.length = static_cast<int>(word.size());
    return e;
  }

  std::unique_ptr<Language> language_;
  std::vector<Followers> sets_;  // with next_symbols
  std::vector<int> lengths_;     // at which strings are accepted and rejected, ascending
  std::shared_ptr<const LabeledStrings> strings_;
};

const RegisterTask<Recognition> registered{kInfo};

}  // namespace
}  // namespace posbench::recognition
