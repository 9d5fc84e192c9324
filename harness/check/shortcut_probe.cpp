#include "harness/check/shortcut_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/random.h"

namespace posbench {
namespace {

constexpr double kErrorProbability = 1e-9;
constexpr int kHidden = -2;  // read in place of the evidence

/// Returns the smallest accuracy p at which this number of correct answers is no rarer than kErrorProbability, by
/// Bernstein's inequality: the number of correct answers exceeds N p + L/3 + sqrt(L^2/9 + 2 L N p (1 - p)) with a
/// probability of exp(-L) at most.
double lower_limit(const ShortcutAccuracy& measured) {
  const double n = static_cast<double>(measured.total), l = -std::log(kErrorProbability);
  double low = 0, high = 1;
  for (int step = 0; step < 40; ++step) {
    const double p = (low + high) / 2;
    const double plausible = n * p + l / 3 + std::sqrt(l * l / 9 + 2 * l * n * p * (1 - p));
    (plausible < static_cast<double>(measured.correct) ? low : high) = p;
  }
  return low;
}

/// A scored position of an example, and what may be read for it.
struct Question {
  const Example* example = nullptr;
  int scored = 0, answer = 0;
  int evidence = -1;  // -1: not known
  int readable = 0;   // tokens before this position can be read

  int token(int position) const { return position == evidence ? kHidden : example->tokens[position]; }
};

/// The values of a feature with the answers, of the examples that have the feature.
class Predictor {
 public:
  void add(size_t example, int value, int answer) {
    (example % 2 == 0 ? learned_ : tested_).emplace_back(value, answer);
  }

  /// Returns the accuracy, without the name of the feature. Values that were not learned get the most frequent
  /// answer.
  ShortcutAccuracy measure() {
    if (learned_.empty() || tested_.empty()) return {};
    const std::vector<std::pair<int, int>> best = most_frequent_answers();
    std::unordered_map<int, int> counts;
    for (const auto& [value, answer] : learned_) ++counts[answer];
    const int otherwise =
        std::ranges::max_element(counts, {}, [](const auto& c) { return std::pair(c.second, c.first); })->first;
    ShortcutAccuracy result;
    for (const auto& [value, answer] : tested_) {
      const auto found = std::ranges::lower_bound(best, value, {}, &std::pair<int, int>::first);
      result.correct += answer == (found != best.end() && found->first == value ? found->second : otherwise);
      ++result.total;
    }
    return result;
  }

  void clear() {
    learned_.clear();
    tested_.clear();
  }

 private:
  /// Returns pairs of a value and its most frequent answer, ascending.
  std::vector<std::pair<int, int>> most_frequent_answers() {
    std::ranges::sort(learned_);
    std::vector<std::pair<int, int>> best;
    size_t most = 0;
    for (auto first = learned_.begin(); first != learned_.end();) {
      const auto last = std::upper_bound(first, learned_.end(), *first);
      const auto count = static_cast<size_t>(last - first);
      if (best.empty() || best.back().first != first->first) {
        best.push_back(*first);
        most = count;
      } else if (count > most) {
        best.back() = *first;
        most = count;
      }
      first = last;
    }
    return best;
  }

  std::vector<std::pair<int, int>> learned_, tested_;
};

/// Collects the best predictor of each kind.
class Best {
 public:
  template <class Describe>
  void add(const std::string& kind, Predictor& predictor, const Describe& describe) {
    ShortcutAccuracy measured = predictor.measure();
    predictor.clear();
    ShortcutAccuracy& best = best_[kind];
    if (measured.accuracy() <= best.at_least) return;
    measured.at_least = lower_limit(measured);
    if (measured.at_least <= best.at_least) return;
    measured.feature = describe();
    best = std::move(measured);
  }
  std::map<std::string, ShortcutAccuracy> take() { return std::move(best_); }

 private:
  std::map<std::string, ShortcutAccuracy> best_{{"token", {}}, {"neighbor", {}}, {"count", {}}, {"position", {}}};
};

std::vector<Question> draw_questions(std::span<const Example> examples, Layout layout) {
  std::vector<Question> questions;
  for (size_t n = 0; n < examples.size(); ++n) {
    const Example& e = examples[n];
    Rng rng = make_rng(0, "shortcuts", n);
    const int chosen = uniform(rng, 0, static_cast<int>(e.scored.size()) - 1), t = e.scored[chosen];
    questions.push_back({.example = &e,
                         .scored = t,
                         .answer = e.targets[t],
                         .evidence = e.evidence.empty() ? -1 : e.evidence[chosen],
                         .readable = layout == Layout::slots ? static_cast<int>(e.tokens.size()) : t + 1});
  }
  return questions;
}

std::string describe_offset(int offset) {
  if (offset == 0) return "the token at the scored position";
  return fmt::format("the token {} positions {} the scored one", std::abs(offset),
                     offset > 0 ? "before" : "after");
}

void measure_tokens(const std::vector<Question>& questions, Best& best) {
  int longest = 0;
  for (const Question& q : questions) longest = std::max(longest, q.readable);
  Predictor predictor;
  const auto add_all = [&](const auto& position_of, const auto& describe) {
    for (size_t n = 0; n < questions.size(); ++n) {
      const Question& q = questions[n];
      const int position = position_of(q);
      if (position >= 0 && position < q.readable) predictor.add(n, q.token(position), q.answer);
    }
    best.add("token", predictor, describe);
  };
  for (int at = 0; at < longest; ++at) {
    add_all([&](const Question&) { return at; }, [&] { return fmt::format("the token at position {}", at); });
  }
  for (int offset = 1 - longest; offset < longest; ++offset) {
    add_all([&](const Question& q) { return q.scored - offset; }, [&] { return describe_offset(offset); });
  }
}

/// A token that occurs in an example, apart from the evidence.
struct Occurrence {
  int token = 0;
  size_t question = 0;
  int count = 0;                                    // without the evidence
  int after_first = kIgnore, after_last = kIgnore;  // kIgnore: none can be read
};

std::vector<Occurrence> find_occurrences(const std::vector<Question>& questions) {
  std::vector<Occurrence> all;
  for (size_t n = 0; n < questions.size(); ++n) {
    const Question& q = questions[n];
    std::unordered_map<int, Occurrence> found;
    for (int t = 0; t < q.readable; ++t) {
      if (t == q.evidence) continue;
      Occurrence& o = found.try_emplace(q.token(t), Occurrence{.token = q.token(t), .question = n}).first->second;
      ++o.count;
      o.after_last = t + 1 < q.readable ? q.token(t + 1) : kIgnore;
      if (o.after_first == kIgnore) o.after_first = o.after_last;
    }
    for (const auto& [token, o] : found) all.push_back(o);
  }
  std::ranges::sort(all, {}, [](const Occurrence& o) { return std::pair(o.token, o.question); });
  return all;
}

void measure_occurrences(const std::vector<Question>& questions, const Task& task, Best& best) {
  const std::vector<Occurrence> all = find_occurrences(questions);
  Predictor count, after_first, after_last;
  for (size_t n = 0; n < all.size(); ++n) {
    const Occurrence& o = all[n];
    const int answer = questions[o.question].answer;
    count.add(o.question, o.count, answer);
    if (o.after_first != kIgnore) after_first.add(o.question, o.after_first, answer);
    if (o.after_last != kIgnore) after_last.add(o.question, o.after_last, answer);
    if (n + 1 < all.size() && all[n + 1].token == o.token) continue;
    const std::string text = task.token_text(o.token);
    best.add("count", count, [&] { return fmt::format("the number of tokens '{}'", text); });
    best.add("neighbor", after_first, [&] { return fmt::format("the token after the first '{}'", text); });
    best.add("neighbor", after_last, [&] { return fmt::format("the token after the last '{}'", text); });
  }
}

void measure_position(const std::vector<Question>& questions, Best& best) {
  Predictor predictor;
  for (const bool scored : {false, true}) {
    for (size_t n = 0; n < questions.size(); ++n)
      predictor.add(n, scored ? questions[n].scored : questions[n].readable, questions[n].answer);
    best.add("position", predictor, [&] { return scored ? "the scored position" : "the number of tokens"; });
  }
}

}  // namespace

std::map<std::string, ShortcutAccuracy> measure_shortcuts(std::span<const Example> examples, const Task& task,
                                                          Layout layout) {
  const std::vector<Question> questions = draw_questions(examples, layout);
  Best best;
  measure_tokens(questions, best);
  measure_occurrences(questions, task, best);
  measure_position(questions, best);
  return best.take();
}

}  // namespace posbench
