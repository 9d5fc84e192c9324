// The tables and the pages of claims.
#include "results/presentation/claims_page.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/document/render.h"
#include "results/presentation/claims_text.h"
#include "tests/catch.h"
#include "tests/results/claim_fixtures.h"

using namespace posbench;

namespace {

std::string make_page(const std::vector<Claim>& claims, const std::vector<ClaimResult>& results,
                      const AllEvidence& all) {
  return to_html(make_claims_document(claims, results, all, ClaimSize::reduced, 0.05, "runs/claims"));
}

}  // namespace

TEST_CASE(
    "the table of claims has a row for each rule, and notes with the reasons of weaker or inconclusive ones") {
  const std::vector<Claim> claims = {claim({order("solves", "fails"), LevelRule{cell("mixed"), 0.97, {}}})};
  const std::vector<ClaimResult> results = judge_claims(claims, three_encodings());
  const Table table = claim_table(claims, results, /*every_row=*/false);
  CHECK(table.rows[1][0].text.empty());
  CHECK(claim_table(claims, results, /*every_row=*/true).rows[1][0].text == "mine");
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0][0].text == "mine");
  CHECK(table.rows[0][1].text == "inconclusive");
  CHECK(table.rows[0][2].text == "solves > fails, task ood_far");
  CHECK(table.rows[0][3].text == "+0.800");
  CHECK(table.rows[1][2].text == "mixed task ood_far >= 0.97");
  CHECK(table.rows[1][4].text == "8 of 14 seeds (0.28 to 0.83 of all)");
  CHECK(
      claim_notes(claims, results) ==
      std::vector<std::string>{
          "1 inconclusive",
          "by itself, as if no other rule was judged: 1 inconclusive; of these 2 rules, at most 0.1 are expected to be "
          "wrong",
          "published against found: of 1 difference that a source states, 1 have the published sign here as differences of "
          "means, and 1 a size between half and twice the published one",
          "kinds: 1 own statement",
          "mine: the rule holds in 57 % of the seeds, and even 100 seeds would not decide, by extrapolation"});
}

TEST_CASE("claims are counted by kind, in one order, and kinds without claims are left out") {
  std::vector<Claim> claims(3, claim({order("solves", "fails")}));
  claims[1].kind = ClaimKind::argument;
  claims[2].kind = ClaimKind::published_number;
  claims.push_back(claims[2]);
  CHECK(claim_kinds(claims) == "2 published number, 1 argument, 1 own statement");
  CHECK(claim_kinds({}).empty());
}

TEST_CASE(
    "the plot of a claim has the published accuracies of what decides, and only those of its task and split") {
  Claim with_numbers = claim({order("solves", "fails"), LevelRule{cell("mixed"), 0.97, {}}});
  with_numbers.kind = ClaimKind::published_number;
  with_numbers.published = {{"test error in %, task", "solves", 12.5},
                            {"mean gain in points", "fails", 3},
                            {"exact match in %, task", "mixed", 25}};
  const auto published = [&] {
    Json accuracies = Json::array();
    for (const Json& row : claim_plot(with_numbers, three_encodings()).rows) accuracies.push_back(row[6]);
    return accuracies;
  };
  CHECK(published() == Json({0.875, nullptr, 0.25}));
  with_numbers.published[2].split = cell("mixed").split;
  with_numbers.published.push_back({"exact match in %, longer", "mixed", 50, "", "another_split"});
  CHECK(published() == Json({0.875, nullptr, 0.25}));  // one number of two is of the split of the rule
  with_numbers.published[2].task = "another task";
  CHECK(published() == Json({0.875, nullptr, nullptr}));
  with_numbers.kind = ClaimKind::other_task;
  CHECK(published() == Json({nullptr, nullptr, nullptr}));
}

TEST_CASE("a claim with published numbers has one dot, of the rule that decides it") {
  Claim two = claim({order("solves", "fails"), order("mixed", "fails")}),
        level = claim({LevelRule{cell("mixed"), 0.97, {}}}), unknown = claim({order("solves", "fails")}),
        not_run = claim({order("solves", "missing")});
  two.name = "two";
  level.name = "level";
  level.kind = ClaimKind::published_number;
  level.published = {{"exact match in %, task", "mixed", 99}};
  std::get<OrderRule>(unknown.rules[0]).gap.reset();
  const std::vector<Claim> claims = {two, level, unknown, not_run};
  const AllEvidence all = three_encodings();
  const std::vector<ClaimResult> results = judge_claims(claims, all);
  REQUIRE(results[0].verdict == Verdict::inconclusive);  // by its second rule
  const std::vector<Plot> plots =
      published_plots(claims, results, all, [](const Claim& claim) { return "to-" + claim.name; });
  REQUIRE(plots.size() == 2);
  const Interval interval = *results[0].rules[1].interval;
  CHECK(plots[0].rows == Json::array({{"two", "inconclusive", 0.8, round_for_page(*results[0].rules[1].difference),
                                       round_for_page(interval.low), round_for_page(interval.high)}}));
  CHECK(plots[0].signals.at("addresses") == Json{{"two", "to-two"}});
  CHECK(plots[0].about.find("both accuracies: 1 of 4.") != std::string::npos);
  CHECK(plots[1].rows == Json::array({{"level", "inconclusive", 0.99, round_for_page(mean(kMixed)), 0.2, 1.0}}));
}

TEST_CASE("writes the page of some claims to the path POSBENCH_WRITE_CLAIMS", "[.write_claims]") {
  const char* path = std::getenv("POSBENCH_WRITE_CLAIMS");
  REQUIRE(path != nullptr);
  std::vector<Claim> claims = {
      claim({order("solves", "fails")}), claim({order("fails", "solves")}),
      claim({LevelRule{cell("mixed"), 0.97, {}}}),
      claim({order("solves", "fails"), order("mixed", "fails"), order("unrun", "fails")})};
  for (size_t i = 0; i < claims.size(); ++i) {
    claims[i].name = "claim-" + std::to_string(i);
    claims[i].statement = claims[i].name + ": an encoding <b>solves</b> a task that another does not.";
    claims[i].published = {{"test error in %", "solves", 2.5}, {"test error in %", "fails", 61.5}};
    claims[i].differs = "2 layers of width 64, trained for minutes";
  }
  std::ofstream(path) << make_page(claims, judge_claims(claims, three_encodings()), three_encodings());
}
