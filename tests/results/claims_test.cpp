#include "results/statistics/claims.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "results/presentation/claims_text.h"
#include "results/reports/claim_json.h"
#include "results/statistics/published_contrasts.h"
#include "tests/catch.h"
#include "tests/results/claim_fixtures.h"
#include "tests/results/fixtures.h"

using namespace posbench;

namespace {

ClaimResult judge_one(const Claim& claim, const AllEvidence& all) {
  return judge_claims(std::vector{claim}, all).at(0);
}

}  // namespace

TEST_CASE("an order claim is reproduced, contradicted, weaker or open by the pairs of seeds") {
  AllEvidence all = three_encodings();
  const ClaimResult reproduced = judge_one(claim({order("solves", "fails")}), all);
  CHECK(reproduced.verdict == Verdict::reproduced);
  CHECK(reproduced.by_itself == Verdict::reproduced);
  CHECK(*reproduced.rules[0].difference == Approx(0.77).margin(0.01));
  CHECK(reproduced.rules[0].interval->low > 0.65);
  CHECK(*reproduced.rules[0].p_above_least == Approx(std::pow(0.5, 14)));
  CHECK(reproduced.rules[0].fraction->low == Approx(std::pow(0.025, 1.0 / 14)));
  CHECK(judge_one(claim({order("fails", "solves")}), all).verdict == Verdict::contradicted);
  const ClaimResult open = judge_one(claim({order("mixed", "fails")}), all);
  CHECK(open.verdict == Verdict::inconclusive);
  CHECK(open.reason ==
        "the rule holds in 57 % of the pairs of seeds, and even 100 seeds of each encoding would not "
        "decide, by extrapolation");
  add(all, cell("little"), std::vector<double>(14, 0.31));
  const ClaimResult weaker = judge_one(claim({order("little", "fails", 0.2)}), all);
  CHECK(weaker.verdict == Verdict::weaker);
  CHECK(weaker.reason == "the difference is below 0.200, which the rule needs");
}

TEST_CASE("a difference that is shown to be negative is contradicted, also by less than the bound") {
  AllEvidence all = three_encodings();
  add(all, cell("worse"), std::vector<double>(14, 0.6));
  add(all, cell("better"), std::vector<double>(14, 0.63));
  CHECK(judge_one(claim({order("worse", "better", 0.2)}), all).verdict == Verdict::contradicted);
}

TEST_CASE("eight seeds decide nothing among all claims, and the reason has the seeds that would") {
  AllEvidence all;
  add(all, cell("best"), std::vector<double>(8, 0.9));
  add(all, cell("worst"), std::vector<double>(8, 0.1));
  const ClaimResult few = judge_one(claim({order("best", "worst"), LevelRule{cell("best"), 0.8, {}}}), all);
  CHECK(few.verdict == Verdict::too_few_seeds);
  CHECK(few.by_itself == Verdict::reproduced);
  CHECK(few.rules[0].seeds_needed == 13);
  CHECK(
      few.reason ==
      "reproduced by itself; among all claims about 13 seeds of each encoding in all may show the claimed difference");
  CHECK(few.rules[1].reason ==
        "reproduced by itself; among all claims about 13 seeds in all may show that most seeds meet it");
}

TEST_CASE("a verdict does not depend on the other claims that are judged") {
  const AllEvidence all = three_encodings();
  const ClaimResult one = judge_one(claim({order("solves", "fails")}), all);
  const std::vector<Claim> many(kRulesOfAllClaims, claim({order("solves", "fails")}));
  const ClaimResult of_many = judge_claims(many, all).back();
  CHECK(of_many.verdict == one.verdict);
  CHECK(of_many.rules[0].p_above_least == one.rules[0].p_above_least);
}

TEST_CASE("a level claim states the fraction of seeds that it proves, and is decided if that is above one half") {
  const auto judge = [](int solving, int seeds, bool is_least = true) {
    std::vector<double> values(static_cast<size_t>(seeds), 0.2);
    std::fill_n(values.begin(), solving, 1.0);
    AllEvidence all;
    add(all, cell("some"), values);
    const LevelRule rule = is_least ? LevelRule{cell("some"), 0.97, {}} : LevelRule{cell("some"), {}, 0.5};
    return judge_one(claim({rule}), all);
  };
  CHECK(judge(14, 14).verdict == Verdict::reproduced);
  CHECK(judge(14, 14).rules[0].fraction->low == Approx(0.7684).margin(1e-4));
  CHECK(judge(5, 5).verdict == Verdict::too_few_seeds);
  CHECK(judge(5, 5).by_itself == Verdict::inconclusive);
  CHECK(judge(5, 5).rules[0].fraction->low == Approx(0.4782).margin(1e-4));
  CHECK(judge(0, 14).verdict == Verdict::contradicted);
  CHECK(judge(0, 14, false).verdict == Verdict::reproduced);
  CHECK(judge(13, 14).verdict == Verdict::inconclusive);  // P(B >= 13) = 15 / 16384
  CHECK(judge(13, 14).by_itself == Verdict::reproduced);
  CHECK(judge(13, 14).rules[0].seeds_needed == 18);  // 17 of 18: 19 / 2^18
}

TEST_CASE("all rules of a claim must hold, and one that is refuted refutes it") {
  const AllEvidence all = three_encodings();
  const auto verdict = [&](std::vector<Rule> rules) { return judge_one(claim(std::move(rules)), all).verdict; };
  const LevelRule solves{cell("solves"), 0.97, {}}, mixed{cell("mixed"), 0.97, {}};
  CHECK(verdict({order("solves", "fails"), solves}) == Verdict::reproduced);
  CHECK(verdict({order("solves", "fails"), mixed}) == Verdict::inconclusive);
  CHECK(verdict({mixed, order("solves", "missing")}) == Verdict::not_run);
  CHECK(verdict({mixed, order("fails", "solves")}) == Verdict::contradicted);
  CHECK(verdict({order("solves", "missing"), order("fails", "solves")}) == Verdict::contradicted);
}

TEST_CASE("out of distribution only the encoding that is claimed to be better must have learned the task") {
  AllEvidence all = three_encodings();
  add(all, cell("not_learned"), kLow, 2);
  CHECK(judge_one(claim({order("solves", "not_learned")}), all).verdict == Verdict::reproduced);
  const ClaimResult open = judge_one(claim({order("not_learned", "solves")}), all);
  CHECK(open.verdict == Verdict::not_learned);
  CHECK(open.reason ==
        "not_learned on task is not learned in distribution (2 of 7 seeds), and the last 40 % of training gained "
        "+0.12; longer training or a larger model may decide");
  add(all, cell("a", "in_distribution"), kHigh, 2);
  add(all, cell("b", "in_distribution"), kLow, 2);
  const OrderRule in{.high = cell("a", "in_distribution"), .low = cell("b", "in_distribution"), .least = 0.1};
  CHECK(judge_one(claim({in}), all).verdict == Verdict::reproduced);
  add(all, cell("c", "in_distribution"), std::vector<double>(14, 0.51), 2);
  const OrderRule more{.high = cell("c", "in_distribution"), .low = cell("b", "in_distribution"), .least = 0.5};
  CHECK(
      judge_one(claim({more}), all).reason ==
      "neither encoding has learned the task (2 of 7 and 2 of 7 seeds); longer training or a larger model may decide");
  all[evidence_key(more.high, Metric::sequence)].learned.seeds.correct = 7;
  CHECK(judge_one(claim({more}), all).verdict == Verdict::weaker);
}

TEST_CASE("where both encodings are at the floor or at the ceiling, nothing can be seen") {
  AllEvidence all;
  for (const auto& [run, value] :
       {std::pair{"zero", 0.0}, {"nothing", 0.0}, {"one", 1.0}, {"all", 1.0}, {"guess", 0.52}})
    add(all, cell(run), std::vector<double>(16, value));
  CHECK(judge_one(claim({order("zero", "nothing")}), all).reason ==
        "nothing can be seen: zero is too bad for a difference of 0.200; only an easier test would decide");
  CHECK(judge_one(claim({order("one", "all")}), all).reason ==
        "nothing can be seen: all is too good for a difference of 0.200; only a harder test would decide");
  const Claim guesses = claim({order("guess", "guess")});
  CHECK(judge_one(guesses, all).verdict == Verdict::weaker);
  all.at("guess ood_far sequence").floor = 0.5;
  CHECK(judge_one(guesses, all).verdict == Verdict::inconclusive);
}

TEST_CASE("a rival below its published accuracy in distribution by more than the bound is undertrained") {
  AllEvidence all = three_encodings();
  Claim published = claim({order("solves", "fails")});
  published.kind = ClaimKind::published_number;
  published.published = {{"exact match in %, far", "fails", 20, "", "ood_far"},
                         {"exact match in %, in distribution", "fails", 93.1, "", "in_distribution"}};
  double& found = all.at("fails ood_far sequence").in_distribution.emplace(0.745);
  CHECK(judge_one(published, all).verdict == Verdict::reproduced);  // below by 0.186, and the bound is 0.2
  std::get<OrderRule>(published.rules[0]).least = 0.1;
  const ClaimResult result = judge_one(published, all);
  CHECK(result.verdict == Verdict::rival_undertrained);
  CHECK(result.by_itself == Verdict::rival_undertrained);
  CHECK(result.reason ==
        "fails on task has 0.745 in distribution, where the source has 0.931; longer training or a "
        "larger model may decide");
  found = 0.9;
  CHECK(judge_one(published, all).verdict == Verdict::reproduced);
  found = 0.745;
  published.kind = ClaimKind::other_task;  // the number is of another task
  CHECK(judge_one(published, all).verdict == Verdict::reproduced);
}

TEST_CASE("missing runs and incomparable sizes decide nothing") {
  const AllEvidence all = three_encodings();
  CHECK(judge_one(claim({order("solves", "missing")}), all).verdict == Verdict::not_run);
  Claim other = claim({order("solves", "fails")});
  other.comparable = false;
  other.differs = "ours is another task";
  CHECK(judge_one(other, all).verdict == Verdict::not_comparable);
  CHECK(judge_one(other, all).reason == "ours is another task");
}

TEST_CASE("published and found differences are compared by sign, size and rank") {
  AllEvidence all = three_encodings();
  std::vector<Claim> claims;
  for (const auto& [high, gap] : {std::pair{"solves", 0.9}, {"solves", 0.2}, {"fails", 0.1}, {"fails", 0.3}}) {
    claims.push_back(claim({order(high, high == std::string("fails") ? "solves" : "fails", gap / 4)}));
  }
  claims.push_back(claims.front());
  claims.back().comparable = false;  // does not count
  const PublishedContrasts found = compare_with_published(claims, judge_claims(claims, all));
  CHECK(found.contrasts == 4);
  CHECK(found.same_sign == 2);
  CHECK(found.similar_size == 1);  // 0.77 for 0.9
  // The ranks are 3, 1, 0, 2 and 2.5, 2.5, 0.5, 0.5. The sum of products is 2, those of squares are 5 and 4.
  CHECK(*found.rank_correlation == Approx(2 / std::sqrt(20.0)));
  CHECK(found.interval->low <= *found.rank_correlation);
  CHECK(found.interval->high >= *found.rank_correlation);
}

TEST_CASE("published differences are compared with those of means, which verdicts do not use") {
  AllEvidence all;
  add(all, cell("half"), {1, 1, 1, 1, 1, 0, 0, 0});
  add(all, cell("rival"), std::vector(8, 0.5));
  const std::vector claims{claim({order("half", "rival", 0.15)})};  // the published difference is 0.6
  const std::vector<ClaimResult> results = judge_claims(claims, all);
  CHECK(results[0].rules[0].difference == 0.5);
  CHECK(results[0].rules[0].mean_difference == 0.125);
  CHECK(compare_with_published(claims, results).similar_size == 0);
  CHECK(found_text(results[0].rules[0]) == "+0.500 (-0.500 to +0.500), means +0.125");
}

TEST_CASE("a seed that diverged does not support a claim by its accuracy of 0") {
  Report report = drawn_report(1, 1, 14, [](int, int, int split, int) { return split == 0 ? 1.0 : 0.2; });
  const auto judge = [&](const Rule& rule) {
    AllEvidence all = three_encodings();
    all["run ood_far sequence"] = find_evidence({"run", report}, cell("run"), Metric::sequence);
    return judge_one(claim({rule}), all).rules[0];
  };
  const LevelRule at_most{cell("run"), {}, 0.5}, at_least{cell("run"), 0.1, {}}, lower{cell("run"), {}, 0.1};
  CHECK(judge(at_most).verdict == Verdict::reproduced);
  CHECK(judge(order("solves", "run")).verdict == Verdict::reproduced);
  report.experiments[3].splits.clear();
  report.experiments[3].status = Status::failed;
  CHECK(judge(at_most).verdict == Verdict::inconclusive);
  report.experiments[3].status = Status::diverged;
  CHECK(
      judge(at_most).reason ==
      "run on task diverged or failed in 1 of 14 seeds, and their accuracy of 0 supports no claim; a lower learning rate may decide");
  CHECK(judge(order("solves", "run")).reason == judge(at_most).reason);
  CHECK(judge(lower).reached == Count{1, 14});
  CHECK(judge(at_least).reached == Count{13, 14});
}

TEST_CASE("evidence is read from a report of one task and one encoding, by split or by kind") {
  const Report report =
      drawn_report(1, 1, 5, [](int, int, int split, int seed) { return 1 - 0.1 * split - 0.01 * seed; });
  const NamedReport named{"run", report};
  CHECK(find_evidence(named, cell("run", "ood_far"), Metric::sequence).values[1] == Approx(0.89));
  CHECK(find_evidence(named, cell("run", "out_of_distribution"), Metric::sequence).values[0] == Approx(0.85));
  CHECK(find_evidence(named, cell("run", "ood_far"), Metric::sequence).in_distribution == Approx(0.98));
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
  CHECK(json.at("claims").at(0).at("verdict") == "inconclusive");
  CHECK(json.at("claims").at(0).at("kind") == "own statement");
  CHECK(json.at("claims").at(0).at("rules").at(0).at("verdict") == "reproduced");
  CHECK(json.at("claims").at(0).at("rules").at(1).at("reached") == 8);
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
