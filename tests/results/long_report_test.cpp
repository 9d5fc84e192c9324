// Tests reports that are read and written in pieces.
#include <cstddef>
#include <string>
#include <string_view>

#include "results/json/json.h"
#include "results/reports/report_json.h"
#include "results/reports/report_text.h"
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
    CHECK(text == to_indented_json(to_json(report)));
  }
}

TEST_CASE("an error near the end of a long report is found, although the text before it is no longer in memory") {
  Report report = small_report();
  ExperimentResult one = report.experiments.front();
  one.learning_curve.clear(), one.splits.clear();
  one.status = Status::failed, one.reason = "a test", one.steps = 0, one.final_loss.reset();
  report.experiments.assign(10'000, one);  // more than are read between two releases of memory
  for (size_t i = 0; i < report.experiments.size(); ++i) report.experiments[i].id.seed = i;
  Json json = to_json(report);
  const TemporaryDirectory folder;
  CHECK(read_report(folder.write("report.json", to_indented_json(json))) == report);
  json["experiments"][9'999]["steps"] = -1;
  CHECK_THROWS_WITH(read_report(folder.write("report.json", to_indented_json(json))),
                    ContainsSubstring("experiments[9999].steps is -1, expected an integer from 0 to"));
}
