#include "results/statistics/claims.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "results/reports/claim_json.h"
#include "tests/catch.h"
#include "tests/results/claim_fixtures.h"
#include "tests/results/fixtures.h"

using namespace posbench;

namespace {

ClaimResult judge_one(const Claim& claim, const AllEvidence& all) {
  return judge_claims(std::vector{claim}, all).at(0);
}

/// Judges thirty claims. Each is about two encodings whose seeds are drawn with means that differ by `difference`.
template <class Draw>
std::vector<ClaimResult> judge_drawn(const Draw& seeds, double difference, double least) {
  AllEvidence all;
  std::vector<Claim> claims;
  for (int i = 0; i < 30; ++i) {
    const OrderRule rule = order("high" + std::to_string(i), "low" + std::to_string(i), least);
    add(all, rule.high, seeds(0.4 + difference));
    add(all, rule.low, seeds(0.4));
    claims.push_back(claim({rule}));
  }
  return judge_claims(claims, all);
}

}  // namespace

TEST_CASE("an order claim is reproduced, contradicted or open by the difference of the means") {
  const AllEvidence all = three_encodings();
  const ClaimResult reproduced = judge_one(claim({order("solves", "fails")}), all);
  CHECK(reproduced.verdict == ClaimVerdict::reproduced);
  CHECK(*reproduced.rules[0].difference == Approx(0.754).margin(0.001));
  CHECK(reproduced.rules[0].interval->low > 0.65);
  CHECK(reproduced.rules[0].interval->high < 0.85);
  CHECK(*reproduced.rules[0].p_above_least == Approx(2.0 / 3432));  // 1 in 3432, and Holm over two
  CHECK(judge_one(claim({order("fails", "solves")}), all).verdict == ClaimVerdict::contradicted);
  const ClaimResult open = judge_one(claim({order("mixed", "fails")}), all);
  CHECK(open.verdict == ClaimVerdict::inconclusive);
  CHECK(open.rules[0].seeds_needed.value() > 7);
  CHECK(open.reason == "about " + std::to_string(*open.rules[0].seeds_needed) +
                           " seeds of each encoding in all would show the claimed difference");
}

TEST_CASE("a claim whose difference is below the one that its rule needs is weaker") {
  AllEvidence all;
  add(all, cell("high"), {0.56, 0.55, 0.54, 0.55, 0.56, 0.55, 0.54});
  add(all, cell("low"), {0.46, 0.45, 0.44, 0.45, 0.46, 0.45, 0.44});
  const ClaimResult result = judge_one(claim({order("high", "low", 0.2)}), all);
  CHECK(result.verdict == ClaimVerdict::weaker);
  CHECK(result.reason == "the difference is below 0.200, which the rule needs");
  CHECK(!result.rules[0].seeds_needed);
  CHECK(*result.rules[0].p_below_least == Approx(1.0 / 3432));  // 1 in 3432; one such test for each rule
  const ClaimResult close = judge_one(claim({order("high", "low", 0.101)}), all);
  CHECK(close.verdict == ClaimVerdict::inconclusive);
  CHECK(
      close.reason ==
      "the seeds vary too much to tell the difference from 0.101, which the rule needs; even 100 seeds would not decide, by extrapolation; longer training or a larger model may decide if the seeds then vary less");
  add(all, cell("lower"), {0.40, 0.47, 0.44, 0.41, 0.46, 0.42, 0.44});
  const std::string opposite = judge_one(claim({order("lower", "low", 0.2)}), all).reason;
  CHECK(opposite.starts_with("the difference is below 0.200, which the rule needs; about "));
  CHECK(opposite.ends_with(" seeds of each encoding in all would show the opposite"));
  add(all, cell("best"), {1, 1, 1, 1, 1, 1, 1});
  add(all, cell("good"), {0.99, 1, 1, 1, 1, 1, 1});
  CHECK(judge_one(claim({order("best", "good", 0.04)}), all).reason ==
        "good is too good for a difference of 0.040; only a harder test would decide");
}

TEST_CASE("an encoding below a rival that is too good needs seeds that show the opposite") {
  AllEvidence all;
  add(all, cell("worse"), {0.92, 0.95, 0.93, 1, 1, 0.94, 1});
  add(all, cell("best"), {1, 1, 1, 1, 0.99, 1, 1});
  const ClaimResult result = judge_one(claim({order("worse", "best", 0.04)}), all);
  CHECK(result.verdict == ClaimVerdict::inconclusive);
  REQUIRE(result.rules[0].seeds_needed);
  CHECK(*result.rules[0].seeds_needed > 7);
  CHECK(result.reason == "about " + std::to_string(*result.rules[0].seeds_needed) +
                             " seeds of each encoding in all would show the opposite");
}

TEST_CASE("p-values are corrected for all claims that are judged together") {
  const AllEvidence all = three_encodings();
  const std::vector<Claim> many(20, claim({order("solves", "fails")}));
  CHECK(*judge_claims(many, all)[0].rules[0].p_above_least == Approx(40.0 / 3432));
  CHECK(judge_claims(many, all)[19].verdict == ClaimVerdict::reproduced);
  const std::vector<Claim> too_many(90, claim({order("solves", "fails")}));
  CHECK(judge_claims(too_many, all)[0].verdict == ClaimVerdict::inconclusive);
}

TEST_CASE("training another claim never undoes a verdict") {
  AllEvidence all = three_encodings();
  std::vector<Claim> claims(3, claim({order("solves", "fails")}));
  claims[1] = claim({order("solves", "later")});
  claims[2].comparable = false;
  const ClaimResult before = judge_claims(claims, all)[0];
  CHECK(*before.rules[0].p_above_least == Approx(4.0 / 3432));  // two p-values of two comparable claims
  CHECK(judge_claims(claims, all)[1].verdict == ClaimVerdict::not_run);
  add(all, cell("later"), kMixed);
  const ClaimResult after = judge_claims(claims, all)[0];
  CHECK(after.rules[0].p_above_least == before.rules[0].p_above_least);
  CHECK(after.verdict == before.verdict);
}

TEST_CASE("a level claim is decided by nine in ten seeds or one in ten") {
  const AllEvidence all = three_encodings();
  const auto verdict = [&](const std::string& run, std::optional<double> at_least, std::optional<double> at_most) {
    return judge_one(claim({LevelRule{cell(run), at_least, at_most}}), all).verdict;
  };
  CHECK(verdict("solves", 0.97, {}) == ClaimVerdict::reproduced);
  CHECK(verdict("fails", 0.97, {}) == ClaimVerdict::contradicted);
  CHECK(verdict("mixed", 0.97, {}) == ClaimVerdict::weaker);  // 4 of 7 seeds
  CHECK(verdict("fails", {}, 0.5) == ClaimVerdict::reproduced);
  CHECK(verdict("solves", {}, 0.5) == ClaimVerdict::contradicted);
}

TEST_CASE("of ten seeds nine reproduce a level claim, six or fewer make it weaker, and one contradicts it") {
  const auto verdict = [](int solving) {
    std::vector<double> values(10, 0.2);
    std::fill_n(values.begin(), solving, 1.0);
    AllEvidence all;
    add(all, cell("some"), values);
    return judge_one(claim({LevelRule{cell("some"), 0.97, {}}}), all).verdict;
  };
  CHECK(verdict(9) == ClaimVerdict::reproduced);
  CHECK(verdict(8) == ClaimVerdict::inconclusive);
  CHECK(verdict(7) == ClaimVerdict::inconclusive);  // the binomial test has p = 0.070
  CHECK(verdict(6) == ClaimVerdict::weaker);        // and here 0.013
  CHECK(verdict(2) == ClaimVerdict::weaker);
  CHECK(verdict(1) == ClaimVerdict::contradicted);
}

TEST_CASE("the reason of an open level claim has the seeds that would decide it") {
  const auto judge = [](int solving, int seeds) {
    std::vector<double> values(static_cast<size_t>(seeds), 0.2);
    std::fill_n(values.begin(), solving, 1.0);
    AllEvidence all;
    add(all, cell("some"), values);
    return judge_one(claim({LevelRule{cell("some"), 0.97, {}}}), all);
  };
  // The test refutes nine in ten if 9 or fewer of 13 seeds reach the level (p = 0.034). If 0.6 of all seeds reach
  // it, this has a probability of 0.83. With 12 seeds it needs 8 or fewer, which has a probability of 0.77.
  const ClaimResult open = judge(3, 5);
  CHECK(open.verdict == ClaimVerdict::inconclusive);
  CHECK(open.rules[0].seeds_needed == 13);
  CHECK(open.reason ==
        "3 of 5 seeds; nine in ten remain possible (p = 0.081); about 13 seeds in all would show that fewer do");
  const ClaimResult close = judge(6, 7);
  CHECK(!close.rules[0].seeds_needed);
  CHECK(
      close.reason ==
      "6 of 7 seeds; nine in ten remain possible (p = 0.522); it would be reproduced with 10 seeds if the others meet it");
  CHECK(judge(9, 10).verdict == ClaimVerdict::reproduced);
}

TEST_CASE("all rules of a claim must hold, and one that is refuted refutes it") {
  const AllEvidence all = three_encodings();
  CHECK(judge_one(claim({order("solves", "fails"), LevelRule{cell("solves"), 0.97, {}}}), all).verdict ==
        ClaimVerdict::reproduced);
  CHECK(judge_one(claim({order("solves", "fails"), LevelRule{cell("mixed"), 0.97, {}}}), all).verdict ==
        ClaimVerdict::weaker);
  CHECK(judge_one(claim({order("mixed", "fails"), LevelRule{cell("mixed"), 0.97, {}}}), all).verdict ==
        ClaimVerdict::weaker);
  CHECK(judge_one(claim({LevelRule{cell("mixed"), 0.97, {}}, order("solves", "missing")}), all).verdict ==
        ClaimVerdict::not_run);
  CHECK(judge_one(claim({LevelRule{cell("mixed"), 0.97, {}}, order("fails", "solves")}), all).verdict ==
        ClaimVerdict::contradicted);
  CHECK(judge_one(claim({order("solves", "missing"), order("fails", "solves")}), all).verdict ==
        ClaimVerdict::contradicted);
}

TEST_CASE("a task that is not learned in distribution decides no rule out of distribution") {
  AllEvidence all = three_encodings();
  add(all, cell("not_learned"), kLow, 2);
  const ClaimResult open = judge_one(claim({order("solves", "not_learned")}), all);
  CHECK(open.verdict == ClaimVerdict::inconclusive);
  CHECK(open.reason ==
        "not_learned on task is not learned in distribution (2 of 7 seeds), and the last 40 % of training gained "
        "+0.12; longer training or a larger model may decide");
  add(all, cell("a", "in_distribution"), kHigh, 2);
  add(all, cell("b", "in_distribution"), kLow, 2);
  const OrderRule in{.high = cell("a", "in_distribution"), .low = cell("b", "in_distribution"), .least = 0.1};
  CHECK(judge_one(claim({in}), all).verdict == ClaimVerdict::reproduced);
  add(all, cell("c", "in_distribution"), {0.5, 0.51, 0.52, 0.5, 0.51, 0.49, 0.5}, 2);
  const OrderRule more{.high = cell("c", "in_distribution"), .low = cell("b", "in_distribution"), .least = 0.5};
  CHECK(
      judge_one(claim({more}), all).reason ==
      "neither encoding has learned the task (2 of 7 and 2 of 7 seeds); longer training or a larger model may decide");
  all[evidence_key(more.high, Metric::sequence)].learned.seeds.correct = 7;
  CHECK(judge_one(claim({more}), all).verdict == ClaimVerdict::weaker);
}

TEST_CASE("fewer than five seeds, missing runs and incomparable sizes decide nothing") {
  AllEvidence all = three_encodings();
  add(all, cell("few"), {1, 1, 1, 1});
  const ClaimResult few = judge_one(claim({order("few", "fails")}), all);
  CHECK(few.verdict == ClaimVerdict::inconclusive);
  CHECK(few.reason == "few on task has 4 seeds, fewer than the 5 that a rule needs");
  CHECK(judge_one(claim({order("solves", "missing")}), all).verdict == ClaimVerdict::not_run);
  Claim other = claim({order("solves", "fails")});
  other.comparable = false;
  other.differs = "ours is another task";
  CHECK(judge_one(other, all).verdict == ClaimVerdict::not_comparable);
  CHECK(judge_one(other, all).reason == "ours is another task");
}

TEST_CASE("with equal encodings whose seeds are bimodal, none of thirty claims is decided") {
  Rng rng = make_rng(1, "test");
  const auto seeds = [&](double) {
    std::vector<double> values(7);
    for (double& value : values)
      value = bernoulli(rng, 0.5) ? 1 - 0.01 * uniform_real(rng) : 0.3 * uniform_real(rng);
    return values;
  };
  for (int family = 0; family < 3; ++family)
    for (const ClaimResult& result : judge_drawn(seeds, 0, 0.05))
      CHECK(result.verdict == ClaimVerdict::inconclusive);
}

TEST_CASE("a claim with a true difference of the one that its rule needs is rarely found weaker") {
  Rng rng = make_rng(2, "test");
  const auto seeds = [&](double mean) {
    std::vector<double> values(8);
    for (double& value : values) value = mean + 0.2 * (uniform_real(rng) - 0.5);
    return values;
  };
  int wrong = 0;
  for (int family = 0; family < 20; ++family) {
    wrong += std::ranges::any_of(judge_drawn(seeds, 0.1, 0.1),
                                 [](const ClaimResult& result) { return result.verdict == ClaimVerdict::weaker; });
  }
  CHECK(wrong <= 3);  // 20 families at a level of 0.05; more than 3 have a probability of 0.016
}

TEST_CASE("a seed that diverged does not support a claim by its accuracy of 0") {
  Report report = drawn_report(1, 1, 8, [](int, int, int split, int) { return split == 0 ? 1.0 : 0.2; });
  const auto judge = [&](const Rule& rule) {
    AllEvidence all = three_encodings();
    all["run ood_far sequence"] = find_evidence({"run", report}, cell("run"), Metric::sequence);
    return judge_one(claim({rule}), all).rules[0];
  };
  const LevelRule at_most{cell("run"), {}, 0.5}, at_least{cell("run"), 0.1, {}}, lower{cell("run"), {}, 0.1};
  CHECK(judge(at_most).verdict == ClaimVerdict::reproduced);
  CHECK(judge(order("solves", "run")).verdict == ClaimVerdict::reproduced);
  report.experiments[3].splits.clear();
  report.experiments[3].status = Status::failed;
  CHECK(judge(at_most).verdict == ClaimVerdict::inconclusive);
  report.experiments[3].status = Status::diverged;
  CHECK(
      judge(at_most).reason ==
      "run on task diverged or failed in 1 of 8 seeds, and their accuracy of 0 supports no claim; a lower learning rate may decide");
  CHECK(judge(order("solves", "run")).reason == judge(at_most).reason);
  CHECK(judge(lower).verdict == ClaimVerdict::weaker);  // 1 of 8
  CHECK(judge(at_least).reached == Count{7, 8});
}

TEST_CASE("evidence is read from a report of one task and one encoding, by split or by kind") {
  const Report report =
      drawn_report(1, 1, 5, [](int, int, int split, int seed) { return 1 - 0.1 * split - 0.01 * seed; });
  const NamedReport named{"run", report};
  CHECK(find_evidence(named, cell("run", "ood_far"), Metric::sequence).values[1] == Approx(0.89));
  CHECK(find_evidence(named, cell("run", "out_of_distribution"), Metric::sequence).values[0] == Approx(0.85));
  CHECK(find_evidence(named, cell("run", "in_distribution"), Metric::token).learned.seeds == Count{5, 5});
  ClaimCell partly = cell("run");
  partly.learned_from = 0.975;  // the five seeds have 1, 0.99, 0.98, 0.97 and 0.96 in distribution
  CHECK(find_evidence(named, partly, Metric::sequence).learned.seeds == Count{3, 5});
  CHECK(evidence_key(partly, Metric::sequence) == "run ood_far sequence learned from 0.975");
  CHECK_THROWS_WITH(find_evidence(named, cell("run", "ood_near"), Metric::token), "run: no split 'ood_near'");
  const Report two = drawn_report(2, 1, 5, [](int, int, int, int) { return 1.0; });
  CHECK_THROWS_WITH(find_evidence({"two", two}, cell("run"), Metric::token), "two: expected a report of one task");
}

TEST_CASE("verdicts can be found again from the evidence that is written with them") {
  const std::vector<Claim> claims = {claim({order("solves", "fails"), LevelRule{cell("mixed"), 0.97, {}}})};
  AllEvidence all = three_encodings();
  all.at("mixed ood_far sequence").failed = 1;
  const std::vector<ClaimResult> results = judge_claims(claims, all);
  const std::string file = "claims.json";
  const Json json = parse_json(to_indented_json(to_json(claims, results, all, ClaimSize::reduced, 0.05)), file);
  CHECK(json.at("claims").at(0).at("verdict") == "weaker");
  CHECK(json.at("claims").at(0).at("kind") == "own statement");
  CHECK(json.at("claims").at(0).at("rules").at(0).at("verdict") == "reproduced");
  CHECK(json.at("claims").at(0).at("rules").at(1).at("reached") == 4);
  const JudgedClaims judged = read_judged_claims(json, file);
  const AllEvidence& again = judged.evidence;
  const std::vector<ClaimResult> read = {judged.results.at(claims.front().name)};
  CHECK(again.size() == 3);
  CHECK(again.at("mixed ood_far sequence").failed == 1);
  CHECK(to_compact_json(to_json(claims, read, again, ClaimSize::reduced, 0.05)) ==
        to_compact_json(to_json(claims, results, all, ClaimSize::reduced, 0.05)));
  CHECK(to_compact_json(to_json(claims, judge_claims(claims, again), again, ClaimSize::reduced, 0.05)) ==
        to_compact_json(to_json(claims, results, all, ClaimSize::reduced, 0.05)));
}
