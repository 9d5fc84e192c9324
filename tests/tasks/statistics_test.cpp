// Compares statistics of our generators with those that the reference measured on the published generators.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "harness/check/oracles.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

namespace {

/// The mean of a measurement over samples, and the error of that mean.
struct Mean {
  double sum = 0, squares = 0;
  int count = 0;
  void add(double x) {
    sum += x;
    squares += x * x;
    ++count;
  }
  double value() const { return sum / count; }
  double error() const { return std::sqrt((squares / count - value() * value()) / count); }
};

double quantile(std::vector<int> values, double fraction) {
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(fraction * static_cast<double>(values.size()));
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

void for_each_sample(const Task& task, int samples, const std::function<void(const Example&)>& visit) {
  for (int n = 0; n < samples; ++n) {
    Rng rng = make_rng(0, "statistics", n);
    visit(task.sample(task.lengths().draw(rng), rng));
  }
}

}  // namespace

TEST_CASE("flip-flop at the published size has the reference's reads and distances") {
  struct Row {
    double p_ignore, reads, distance, median, percentile95, longest, last_bit;
  };
  const auto [p_ignore, reads, distance, median, percentile95, longest, last_bit] = GENERATE(
      Row{0.8, 26.4, 9.7, 7, 28, 112, 0.60}, Row{0.98, 3.5, 71.5, 53, 205, 255, 0.51},
      Row{0.1, 115.4, 2.2, 2, 5, 19, 0.95});  // of 254 drawn instructions a tenth are reads: 26.4, not 26.6
  DYNAMIC_SECTION("p_ignore " << p_ignore) {
    Mean reads_seen, last_bit_right;
    std::vector<int> distances;
    for_each_sample(*make(fmt::format("flip_flop:length=256,p_ignore={}", p_ignore)), 3000, [&](const Example& e) {
      reads_seen.add(static_cast<double>(e.scored.size()));
      distances.insert(distances.end(), e.distances.begin(), e.distances.end());
      for (const int t : e.scored) last_bit_right.add(e.targets[t] == e.tokens[t - 1]);
    });
    Mean distance_seen;
    for (const int d : distances) distance_seen.add(d);
    CHECK(reads_seen.value() == Approx(reads).margin(0.1 + 4 * reads_seen.error()));
    CHECK(distance_seen.value() == Approx(distance).margin(0.05 + 4 * distance_seen.error()));
    CHECK(quantile(distances, 0.5) == Approx(median).epsilon(0.05));
    CHECK(quantile(distances, 0.95) == Approx(percentile95).epsilon(0.05));
    CHECK(*std::max_element(distances.begin(), distances.end()) == Approx(longest).epsilon(0.3));  // an extreme
    CHECK(last_bit_right.value() == Approx(last_bit).margin(0.005 + 4 * last_bit_right.error()));
  }
}

TEST_CASE("selective copy at the published size has the published blanks, uniformly among the data") {
  struct Row {
    double blanks;
    int count;
  };
  const auto [blanks, count] = GENERATE(Row{1, 256}, Row{0.5, 128}, Row{2, 512});
  Mean positions;
  for_each_sample(*make(fmt::format("selective_copy:length=256,blanks={}", blanks)), 100,
                  [&, count = count](const Example& e) {
                    REQUIRE(std::count(e.tokens.begin(), e.tokens.end(), 16) == count);
                    REQUIRE(e.tokens.size() == 2 * 256u + count);
                    for (int t = 0; t < 256 + count; ++t) {
                      if (e.tokens[t] == 16) positions.add(t);
                    }
                  });
  CHECK(positions.value() == Approx((256 + count - 1) / 2.0).margin(4 * positions.error()));
}

TEST_CASE("counting at the published size has the reference's lengths, distances and answers") {
  struct Row {
    int variables;
    double distance;  // in tokens
    double lost;      // fraction of samples whose last reset is lost if they are truncated to 512 tokens
    double ten;       // fraction of samples with the answer 10
  };
  const auto [variables, distance, lost, ten] =
      GENERATE(Row{1, 56, 0.000, 0.201}, Row{3, 111, 0.002, 0.213}, Row{5, 129, 0.003, 0.212});
  DYNAMIC_SECTION(variables << " variables") {
    const auto counting = make(fmt::format("counting:variables={},length=3..512,pass=50", variables));
    Mean tokens, distance_seen, truncated, reset_lost;
    std::vector<int> sequence_tokens;
    std::vector<Mean> answers(11);
    for (int n = 0; n < 10000; ++n) {
      Rng rng = make_rng(0, "statistics", n);
      // The published generator redraws the length of a program that sets nothing, which favors long programs.
      // Until the first set, one statement in 51 is one.
      int length = 0;
      do {
        length = counting->lengths().draw(rng);
      } while (bernoulli(rng, std::pow(50.0 / 51, length)));
      const Example e = counting->sample(length, rng);
      const int count = static_cast<int>(e.tokens.size()) + 1;  // with the answer, as published
      tokens.add(count);
      sequence_tokens.push_back(count);
      distance_seen.add(e.distances[0]);
      truncated.add(count > 512);
      reset_lost.add(count - 2 - e.distances[0] < count - 512);
      for (int value = 0; value <= 10; ++value) {
        answers[value].add(counting->token_text(e.targets.back()) == std::to_string(value));
      }
    }
    CHECK(tokens.value() == Approx(319).margin(4 * tokens.error()));
    CHECK(quantile(sequence_tokens, 0.99) == Approx(590).epsilon(0.02));
    CHECK(*std::max_element(sequence_tokens.begin(), sequence_tokens.end()) == Approx(640).epsilon(0.05));
    CHECK(truncated.value() == Approx(0.14).margin(0.005 + 4 * truncated.error()));
    CHECK(reset_lost.value() == Approx(lost).margin(0.001 + 4 * reset_lost.error()));
    CHECK(distance_seen.value() == Approx(distance).margin(0.5 + 4 * distance_seen.error()));
    const double fractions[] = {0.14, 0.12, 0.10, 0.09, 0.08, 0.07, 0.06, 0.05, 0.04, 0.04, ten};
    for (int value = 0; value <= 10; ++value) {
      INFO("answer " << value);
      CHECK(answers[value].value() == Approx(fractions[value]).margin(0.008 + 4 * answers[value].error()));
    }
  }
}

TEST_CASE("last-x retrieval: the nearest item is the answer as often as in the reference") {
  Mean nearest;
  for_each_sample(*make("last_x_retrieval"), 20000,
                  [&](const Example& e) { nearest.add(e.tokens.end()[-2] == e.targets.back()); });
  CHECK(nearest.value() == Approx(1.0 / 8 + 1.0 / 8 * 7 / 8).margin(4 * nearest.error()));
}

TEST_CASE("multi-query associative recall: gaps follow the power law") {
  double all = 0;
  for (int j = 1; j <= 31; ++j) all += std::pow(j, -0.99);
  Mean first, second;
  for_each_sample(*make("mqar:length=64,pairs=1"), 20000, [&](const Example& e) {
    first.add(e.scored[0] == 2);
    second.add(e.scored[0] == 4);
  });
  CHECK(first.value() == Approx(1 / all).margin(4 * first.error()));
  CHECK(second.value() == Approx(std::pow(2, -0.99) / all).margin(4 * second.error()));
}

TEST_CASE("Dyck: strings are as likely as the walk makes them among those of their length") {
  // To depth 3, three pairs: the walk takes ()()() with probability 4/32, ((())), (())() and ()(()) with 2/32
  // each, and (()()) with 1/32.
  Mean flat, nested;
  for_each_sample(*make("dyck:length=3,depth=3"), 20000, [&](const Example& e) {
    flat.add(e.scored == Tokens{0, 2, 4});
    nested.add(e.scored == Tokens{1, 3, 4});
  });
  CHECK(flat.value() == Approx(4.0 / 11).margin(4 * flat.error()));
  CHECK(nested.value() == Approx(1.0 / 11).margin(4 * nested.error()));
}

TEST_CASE("count a word in the last sentence: a count of the whole text is right only if nothing distracts") {
  Mean right, undistracted;
  for_each_sample(*make("count_word_last_sentence"), 5000, [&](const Example& e) {
    const int queried = e.tokens.back(), stop = e.tokens.end()[-2] - 1, answer = e.targets.back() - (stop + 2);
    const int in_text = static_cast<int>(std::count(e.tokens.begin(), e.tokens.end() - 1, queried));
    right.add(in_text == answer);
    undistracted.add(std::pow(0.75, [&] {  // words before the last sentence
      const auto last_stop = e.tokens.end() - 3;
      const auto sentence = std::find(std::make_reverse_iterator(last_stop), e.tokens.rend(), stop).base();
      return (sentence - e.tokens.begin()) - std::count(e.tokens.begin(), sentence, stop);
    }()));
  });
  CHECK(right.value() == Approx(undistracted.value()).margin(4 * right.error()));
}

TEST_CASE("counting draws its lengths as requested, or as the released generator does") {
  const auto [redraw, statements] = GENERATE(table<std::string, double>({{"program", 257.5}, {"length", 278.8}}));
  Mean seen;
  for_each_sample(*make("counting:length=3..512,pass=50,redraw=" + redraw), 20000, [&](const Example& e) {
    CHECK(e.length == e.segments.back());
    seen.add(e.length);
  });
  CHECK(std::abs(seen.value() - statements) < 4.5 * seen.error());
}

TEST_CASE("Dyck sequences end at a requested length, or as the released sampler ends them") {
  const auto [ends, brackets, median] =
      GENERATE(table<std::string, double, double>({{"requested", 351, 350}, {"released", 39.8, 8}}));
  Mean seen;
  std::vector<int> all;
  for_each_sample(*make("dyck:length=1..350,depth=10,ends=" + ends), 4000, [&](const Example& e) {
    CHECK(static_cast<int>(e.tokens.size()) == 2 * e.length);  // the end is a target, and not read
    all.push_back(2 * e.length);
    seen.add(2 * e.length);
  });
  CHECK(std::abs(seen.value() - brackets) < 4.5 * seen.error());
  CHECK(std::abs(quantile(all, 0.5) - median) < 0.1 * median + 0.1);
}
