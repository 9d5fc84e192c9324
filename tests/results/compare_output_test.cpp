// Tests the tables, the JSON and the page of comparisons.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string>

#include "results/document/page.h"
#include "results/json/json.h"
#include "results/presentation/compare_data.h"
#include "results/presentation/compare_page.h"
#include "results/presentation/compare_text.h"
#include "results/statistics/compare.h"
#include "tests/catch.h"
#include "tests/results/comparisons.h"
#include "tests/results/fixtures.h"

using namespace posbench;

namespace {

/// Five seeds; the first encoding got worse, the second is the same, the third has another option.
Comparison example() {
  static const Report before = drawn_report(1, 3, 5, [](int, int encoding, int split, int seed) {
    if (split == 0) return 1.0;
    return encoding == 0 && split == 1 ? 0.9 + 0.01 * (seed % 2) : 0.5;
  });
  static const Report after = [] {
    Report report = drawn_report(1, 3, 5, [](int, int encoding, int split, int seed) {
      if (split == 0) return 1.0;
      return encoding == 0 && split == 1 ? 0.6 + 0.001 * seed : 0.5;
    });
    rename_encoding(report, "encoding2", "encoding2:a=<b>|");
    return report;
  }();
  return compare_one(before, after);
}

}  // namespace

TEST_CASE("the console shows verdicts, worst first, and their statistics") {
  CHECK(
      to_console_text(example()) ==
      "after.json, compared with before.json: 1 worse, 5 same\n"
      "\n"
      "                                                                    difference\n"
      "verdict  task   encoding   split            baseline  candidate          (95%)      solved       p  detectable\n"
      "--------------------------------------------------------------------------------------------------------------\n"
      "worse    task0  encoding0  ood_far             0.904      0.602  -0.302 ±0.005  0/5 -> 0/5  0.0079       0.007\n"
      "same     task0  encoding0  in_distribution     1.000      1.000  +0.000 ±0.000  5/5 -> 5/5  1.0000       0.001\n"
      "same     task0  encoding0  ood_sparse          0.500      0.500  +0.000 ±0.000  0/5 -> 0/5  1.0000       0.001\n"
      "same     task0  encoding1  in_distribution     1.000      1.000  +0.000 ±0.000  5/5 -> 5/5  1.0000       0.001\n"
      "same     task0  encoding1  ood_far             0.500      0.500  +0.000 ±0.000  0/5 -> 0/5  1.0000       0.001\n"
      "same     task0  encoding1  ood_sparse          0.500      0.500  +0.000 ±0.000  0/5 -> 0/5  1.0000       0.001\n"
      "\n"
      "sequence accuracy, mean over seeds; differences of 0.02 or more matter. solved: seeds with 0.99 of sequences or "
      "more.\n"
      "p: exact permutation test over the splits of a task and encoding, corrected for 2 tests; alpha 0.05.\n"
      "detectable: the smallest difference that these seeds find with a power of 80 %, assuming normal noise.\n"
      "\n"
      "On one side only:\n"
      "\n"
      "- task0 / encoding2, seeds 0, 1, 2, 3, 4: in before.json only\n"
      "- task0 / encoding2:a=<b>|, seeds 0, 1, 2, 3, 4: in after.json only\n"
      "- to compare the two: --match encoding2=encoding2:a=<b>|\n");
  CHECK(to_console_text(example(), {.color = true}).find("\033[31mworse  \033[0m") != std::string::npos);
}

TEST_CASE("Markdown collapses rows without a difference and escapes markup") {
  const std::string text = to_markdown(example());
  CHECK(text.starts_with(
      "**after.json, compared with before.json**: 1 worse, 5 same\n"
      "\n"
      "| verdict | task | encoding | split | baseline | candidate | difference (95%) | solved | p | detectable |\n"
      "| :-- | :-- | :-- | :-- | --: | --: | --: | --: | --: | --: |\n"
      "| worse | task0 | encoding0 | ood_far | 0.904 | 0.602 | -0.302 ±0.005 | 0/5 -&gt; 0/5 | 0.0079 | 0.007 |\n"
      "\n"
      "<details><summary>5 same</summary>\n"
      "\n"
      "| verdict |"));
  CHECK(
      text.ends_with("- task0 / encoding2, seeds 0, 1, 2, 3, 4: in before.json only\n"
                     "- task0 / encoding2:a=&lt;b&gt;\\|, seeds 0, 1, 2, 3, 4: in after.json only\n"
                     "- to compare the two: --match encoding2=encoding2:a=&lt;b&gt;\\|\n"));
}

TEST_CASE("several candidates each have their name in a row") {
  const Report report = constant_report(1, 5, 0.5);
  const std::array candidates = {NamedReport{"a.json", report}, NamedReport{"b.json", report}};
  const Table table = comparison_table(compare({"before.json", report}, candidates, {}));
  CHECK(table.columns[1].header == "candidate");
  CHECK(table.rows.at(0).at(1).text == "a.json");
  CHECK(table.rows.at(5).at(1).text == "b.json");
}

TEST_CASE("a comparison as CSV has a number in each numeric cell") {
  const Table table = comparison_csv(example());
  REQUIRE(table.rows.size() == 6);
  const auto cell = [&](const std::string& name) {
    const auto column = std::ranges::find(table.columns, name, &Column::header);
    REQUIRE(column != table.columns.end());
    return table.rows[0][static_cast<size_t>(column - table.columns.begin())].text;
  };
  CHECK(cell("verdict") == "worse");
  CHECK(cell("split") == "ood_far");
  CHECK(cell("difference") == "-0.302");
  CHECK(cell("low") == "-0.307409");
  CHECK(cell("baseline_seeds") == "5");
  CHECK(to_csv(table).find('\'') == std::string::npos);
}

TEST_CASE("a comparison as JSON holds every number") {
  const Json json = to_json(example());
  CHECK(json.at("baseline") == "before.json");
  CHECK(json.at("candidates") == Json::array({"after.json"}));
  CHECK(to_compact_json(json.at("options")) ==
        R"({"alpha":0.05,"threshold":0.02,"metric":"sequence","allow_different_budget":false,"match":[]})");
  CHECK(json.at("regression") == true);
  CHECK(json.at("rows").size() == 6);
  const Json& row = json.at("rows").at(1);
  CHECK(row.at("split") == "ood_far");
  std::string keys;
  for (const auto& [key, value] : row.items()) keys += key + " ";
  CHECK(keys ==
        "candidate task encoding candidate_encoding split kind before after in_pairs identical difference noise "
        "interval solved_p p p_corrected detectable verdict ");
  keys.clear();
  for (const auto& [key, value] : row.at("after").items()) keys += key + " ";
  CHECK(keys == "seeds unfinished mean solved solved_interval learned late_gain ");
  CHECK(row.at("verdict") == "worse");
  CHECK(row.at("difference").get<double>() == Approx(-0.302));
  CHECK(row.at("interval").at("low").get<double>() == Approx(-0.3074089177));
  const Json& alone = json.at("one_sided").at(0);
  CHECK(alone.at("only_in") == "baseline");
  CHECK(alone.at("encoding") == "encoding2");
  CHECK(to_compact_json(alone.at("seeds")) == "[0,1,2,3,4]");
  CHECK(json.at("warnings").empty());
}

TEST_CASE("a comparison that is wider than the terminal becomes a table for each task and encoding") {
  const Comparison comparison = example();
  const std::string whole = to_console_text(comparison), narrow = to_console_text(comparison, {.width = 80});
  std::istringstream lines(narrow);
  for (std::string line; std::getline(lines, line) && !line.starts_with("sequence accuracy");)
    CHECK(line.size() <= 81);  // ± has two bytes
  for (const ComparisonRow& row : comparison.rows) {
    CHECK(narrow.find(fmt::format("{}, {}\n", row.task, encoding_text(row))) != narrow.npos);
  }
  CHECK(narrow.find("The terminal is too narrow for solved and detectable; a pipe has them.\n") != narrow.npos);
  CHECK(to_console_text(comparison, {.width = 200}) == whole);
}

TEST_CASE("the plot of differences has a color and a shape for each verdict") {
  const Json forest = read_json(POSBENCH_SOURCE_DIR "/results/document/page/forest.json");
  for (const std::string scale : {"color", "shape"}) {
    const auto found =
        std::ranges::find_if(forest["scales"], [&](const Json& one) { return one["name"] == scale; });
    REQUIRE(found != forest["scales"].end());
    std::set<std::string> drawn = (*found)["domain"];
    std::set<std::string> verdicts;
    for (const Verdict verdict : kVerdicts) verdicts.insert(to_string(verdict));
    CHECK(drawn == verdicts);
  }
}

TEST_CASE("the page of a comparison has all verdicts, and a forest plot for each task with a line for each row") {
  const Comparison comparison = example();
  const std::string page = make_compare_page(comparison);
  CHECK(page.find(R"("kind":"forest")") != page.npos);
  for (const ComparisonRow& row : comparison.rows) {
    CHECK(page.find(fmt::format("\"title\":\"{}", row.task)) != page.npos);
    CHECK(page.find(to_script_json(encoding_text(row))) != page.npos);
    CHECK(page.find(to_script_json(row.split)) != page.npos);
  }
  const size_t verdicts = page.find(R"("title":"All differences")");
  CHECK(verdicts < page.find(R"("kind":"forest")"));
}
