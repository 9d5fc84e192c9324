// Tests the counts and means of answers.
#include "harness/training/tally.h"

#include <cmath>
#include <vector>

#include "tests/catch.h"

using namespace posbench;

namespace {

ScoredAnswer answer(bool right, double loss = 0, double margin = 0) {
  return {.right = right, .loss = loss, .margin = margin};
}

}  // namespace

TEST_CASE("a tally counts sequences and answers by length, distance and position") {
  Tally tally;
  Example first, second;
  first.distances = {4, 9};
  second.distances = {9, 4};
  tally.add(first, 3, {answer(true), answer(false)});
  tally.add(second, 5, {answer(true), answer(true)});
  tally.add(first, 3, {answer(true), answer(true)});
  tally.add(Example{}, 7, {});  // nothing is scored
  const SplitResult result = tally.result();
  CHECK(result.sequences == 4);
  CHECK(result.token == Count{5, 6});
  CHECK(result.sequence == Count{2, 3});
  REQUIRE(result.by_length.size() == 2);
  CHECK(result.by_length[0].length == 3);
  CHECK(result.by_length[0].token == Count{3, 4});
  CHECK(result.by_length[0].sequence == Count{1, 2});
  CHECK(result.by_length[1].length == 5);
  CHECK(result.by_length[1].token == Count{2, 2});
  CHECK(result.by_length[1].sequence == Count{1, 1});
  REQUIRE(result.by_distance.size() == 2);
  CHECK(result.by_distance[0].distance == 4);
  CHECK(result.by_distance[0].token == Count{3, 3});
  CHECK(result.by_distance[1].distance == 9);
  CHECK(result.by_distance[1].token == Count{2, 3});
  REQUIRE(result.by_position.size() == 2);
  CHECK(result.by_position[0].position == 1);
  CHECK(result.by_position[0].token == Count{3, 3});
  CHECK(result.by_position[1].position == 2);
  CHECK(result.by_position[1].token == Count{2, 3});
}

TEST_CASE("a tally rounds the means of a length to the nearest millionth") {
  Tally tally;
  Example example;
  tally.add(example, 3, {answer(true, 1, -2), answer(false, 0.5, 1), answer(false, 0.5, 0)});
  const SplitResult result = tally.result();
  CHECK(*result.loss == Approx(2.0 / 3).epsilon(1e-12));
  CHECK(result.by_length[0].loss == 0.666667);
  CHECK(result.by_length[0].margin == -0.333333);
}

TEST_CASE("of equal logits the first is predicted") {
  const std::vector<double> logits{2, 3, 3, 1};
  CHECK(score_answer(logits, {}, 0).predicted == 1);
  CHECK(score_answer(logits, {1, 2}, 0).predicted == 1);
  CHECK(score_answer(logits, {2, 1}, 0).predicted == 2);
  CHECK(score_answer(logits, {}, 1).right);
  CHECK_FALSE(score_answer(logits, {}, 2).right);
}

TEST_CASE("an answer is not right if the logit of its target is not finite") {
  CHECK_FALSE(score_answer(std::vector<double>{-HUGE_VAL, -HUGE_VAL}, {}, 0).right);
  CHECK_FALSE(score_answer(std::vector<double>{HUGE_VAL, 1}, {}, 0).right);
  CHECK_FALSE(score_answer(std::vector<double>{NAN, 1, 2}, {}, 0).right);
  CHECK_FALSE(score_answer(std::vector<double>{NAN, NAN}, {1, 0}, 1).right);
}
