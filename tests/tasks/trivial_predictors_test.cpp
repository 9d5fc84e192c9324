// Tests the table of trivial predictors of the reference, section 6.2: accuracies that are reached without solving
// a task.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

namespace {

std::vector<Example> draw(const std::string& name, int length, int samples, int first = 0) {
  const std::unique_ptr<Task> task = make(name, Layout::slots);
  std::vector<Example> examples;
  for (int n = first; n < first + samples; ++n) {
    Rng rng = make_rng(0, "trivial", n);
    examples.push_back(task->sample(length, rng));
  }
  return examples;
}

/// Returns the fraction of scored positions whose answer is guess(position of the answer, length of the question).
template <class Guess>
double accuracy(const std::vector<Example>& examples, Guess guess) {
  int right = 0, total = 0;
  for (const Example& e : examples) {
    for (const int t : e.scored) right += e.targets[t] == guess(t - e.scored.front(), e.scored.front());
    total += static_cast<int>(e.scored.size());
  }
  return static_cast<double>(right) / total;
}

/// Returns the accuracy of the answer that is most frequent at its position, learned from other samples.
double majority_accuracy(const std::string& name, int length) {
  std::map<int, std::map<int, int>> counts;  // position, answer
  for (const Example& e : draw(name, length, 4000)) {
    for (const int t : e.scored) ++counts[t - e.scored.front()][e.targets[t]];
  }
  std::map<int, int> best;
  for (const auto& [position, answers] : counts) {
    best[position] = std::max_element(answers.begin(), answers.end(), [](const auto& a, const auto& b) {
                       return a.second < b.second;
                     })->first;
  }
  return accuracy(draw(name, length, 2000, 4000), [&](int position, int) { return best[position]; });
}

int bucket(int position, int length) { return 5 * position / length; }

}  // namespace

TEST_CASE("any constant is right half of the time where answers are uniform bits") {
  for (const char* name : {"parity_check", "even_pairs", "missing_duplicate_string", "duplicate_string",
                           "reverse_string", "odds_first"}) {
    DYNAMIC_SECTION(name) {
      const std::vector<Example> examples = draw(name, 40, 4000);
      for (const int bit : {0, 1}) {
        CHECK(accuracy(examples, [&](int, int) { return bit; }) == Approx(0.5).margin(0.03));
      }
    }
  }
}

TEST_CASE("always answering 0 is right for 30 % of modular arithmetic with brackets") {
  for (const int length : {40, 60, 100}) {
    CHECK(accuracy(draw("modular_arithmetic_brackets", length, 5000), [](int, int) { return 0; }) ==
          Approx(0.30).margin(0.02));
  }
}

TEST_CASE("the position alone determines most of bucket sort") {
  CHECK(accuracy(draw("bucket_sort", 40, 500), bucket) == Approx(0.78).margin(0.01));
  CHECK(accuracy(draw("bucket_sort", 100, 300), bucket) == Approx(0.85).margin(0.01));
  CHECK(accuracy(draw("bucket_sort", 500, 100), bucket) == Approx(0.94).margin(0.01));
  double sum = 0;
  for (int length = 41; length <= 500; ++length) {
    sum += accuracy(draw("bucket_sort", length, 8, 8 * length), bucket);
  }
  CHECK(sum / 460 == Approx(0.900).margin(0.005));
}

TEST_CASE("the most frequent answer of each position is right for half of the digits of binary arithmetic") {
  for (const int length : {40, 60, 100}) {  // bit n of a root has a bias of 1/2^(n+1): 51-52 % of all its bits
    CHECK(majority_accuracy("compute_sqrt", length) == Approx(0.5 + 1.0 / length).margin(0.005));
  }
  CHECK(majority_accuracy("binary_addition", 40) == Approx(0.51).margin(0.01));
  CHECK(majority_accuracy("binary_multiplication", 40) == Approx(0.515).margin(0.01));

  int ones = 0;
  for (const Example& e : draw("compute_sqrt", 40, 4000)) ones += e.targets[e.scored.front()];
  CHECK(ones / 4000.0 == Approx(0.75).margin(0.03));
}
