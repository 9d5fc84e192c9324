// Tests the tables, the JSON and the page of comparisons.
#include <algorithm>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "results/json/json.h"
#include "results/presentation/compare_document.h"
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

TEST_CASE("the document of a comparison has the verdicts, worst first, their legend, and what has no partner") {
  const Document document = make_comparison_document(example());
  CHECK(document.title == "after.json, compared with before.json");
  CHECK(std::get<Text>(document.blocks.at(0)).text == "1 worse, 5 same");
  const Table& table = std::get<Table>(document.blocks.at(1));
  CHECK(to_csv(table).starts_with(
      "task,encoding,split,verdict,baseline,candidate,difference (95%),solved,p,detectable\r\n"
      "task0,encoding0,ood_far,worse,0.904,0.602,'-0.302 ±0.005,0/5 -> 0/5,0.0079,0.007\r\n"
      "task0,encoding0,in_distribution,same,1.000,1.000,'+0.000 ±0.000,5/5 -> 5/5,1.0000,0.001\r\n"));
  CHECK(table.rows.size() == 6);
  CHECK(table.rows.at(0).at(3).tone == Tone::bad);
  CHECK(table.folded == "5 same");
  CHECK(table.first_folded == 1);
  std::vector<std::string> notes;
  for (size_t n = 2; std::holds_alternative<Note>(document.blocks.at(n)); ++n)
    notes.push_back(std::get<Note>(document.blocks[n]).text);
  REQUIRE(notes.size() == 6);
  CHECK(std::get<Heading>(document.blocks.at(8)).text == "In short");
  CHECK(std::holds_alternative<Note>(document.blocks.at(9)));
  CHECK(notes[1] ==
        "p: exact permutation test over the splits of a task and encoding, corrected for 2 tests; alpha 0.05.");
  CHECK(notes[3] == "task0 / encoding2, seeds 0, 1, 2, 3, 4: in before.json only");
  CHECK(notes[5] == "to compare the two: --match encoding2=encoding2:a=<b>|");
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
        "interval p p_corrected detectable verdict ");
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

TEST_CASE("the plot of differences has a color and a shape for each verdict") {
  const Json forest = read_json(POSBENCH_SOURCE_DIR "/results/document/page/forest.json");
  for (const std::string scale : {"color", "shape"}) {
    const auto found =
        std::ranges::find_if(forest["scales"], [&](const Json& one) { return one["name"] == scale; });
    REQUIRE(found != forest["scales"].end());
    std::set<std::string> drawn = (*found)["domain"];
    std::set<std::string> verdicts;
    for (const Verdict verdict : kComparisonVerdicts) verdicts.insert(to_string(verdict));
    CHECK(drawn == verdicts);
  }
}
