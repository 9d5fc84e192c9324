// Tests reports that are read and written in pieces.
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "results/json/json.h"
#include "results/reports/report_json.h"
#include "results/types/report.h"
#include "tests/catch.h"
#include "tests/results/fixtures.h"
#include "tests/temporary.h"

using namespace posbench;

TEST_CASE("the text of a report is that of its JSON for any number of experiments") {
  Report report = small_report();
  const ExperimentResult first = report.experiments.front();
  for (const size_t count : {report.experiments.size(), size_t{1}, size_t{0}, size_t{1500}}) {
    report.experiments.resize(count, first);
    for (size_t i = 0; i < count; ++i) report.experiments[i].id.seed = i;
    std::string text;
    write_report_text(report, summarize(report), [&](std::string_view piece) { text += piece; });
    CHECK(text == to_file_json(to_json(report)));
    const TemporaryDirectory folder;
    CHECK(read_report(folder.write("report.json", text)) == report);
    for (const size_t at : {size_t{3}, text.size() / 2, text.size() - 30}) {
      std::string changed = text;
      changed[at] = static_cast<char>(changed[at] ^ 1);
      CHECK_THROWS_AS(read_report(folder.write("report.json", changed)), InputError);
    }
  }
}

TEST_CASE("a flipped bit of a report is refused or changes nothing that is read") {
  Report report = small_report();
  report.experiments.resize(1);
  const std::string text = to_file_json(to_json(report));
  REQUIRE(parse_report(text, "x") == report);
  size_t accepted = 0;
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string changed = text;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    std::optional<Report> read;
    try {
      read = parse_report(changed, "x");
    } catch (const InputError&) {
      continue;
    }
    CHECK(*read == report);
    ++accepted;
  }
  CHECK(accepted < 100);  // changes of the name "crc32", and of white space behind it
  const std::string end = "\n}\n";
  for (const std::string& edited : {text.substr(0, text.rfind(',')) + end,  // the checksum was deleted
                                    text.substr(0, text.size() - end.size()) + ",\n \"note\": 1" + end})
    CHECK(parse_report(edited, "x") == report);
  CHECK_THROWS_WITH(parse_report(text.substr(0, 1) + " " + text.substr(1), "x"),
                    Catch::Matchers::StartsWith("x: crc32 is \"") &&
                        Catch::Matchers::EndsWith(
                            "\": the file was changed; restore it, or delete crc32 if the change was intended"));
}

TEST_CASE("a long report is read the same with any lines, and a comma after its last experiment is refused") {
  Report report = small_report();
  ExperimentResult one = report.experiments.front();
  report.experiments.assign(2'500, one);  // more than are read at once
  for (size_t i = 0; i < report.experiments.size(); ++i) report.experiments[i].id.seed = i;
  const Json json = to_json(report);
  std::string lines = "{\n\"experiments\": [\n";
  for (const Json& item : json["experiments"]) lines += to_compact_json(item) + ",\n";
  std::string rest = "],\n";
  for (const auto& [key, value] : json.items()) {
    if (key != "experiments") rest += "\"" + key + "\": " + to_compact_json(value) + ",\n";
  }
  rest.replace(rest.size() - 2, 2, "}");
  const TemporaryDirectory folder;
  for (const std::string& text : {to_indented_json(json), json.dump(), json.dump(4), json.dump(1, '\t'),
                                  json.dump(0), lines.substr(0, lines.size() - 2) + "\n" + rest})
    CHECK(read_report(folder.write("report.json", text)) == report);
  CHECK_THROWS_WITH(read_report(folder.write("report.json", lines + rest)), ContainsSubstring("unexpected ']'"));
}
