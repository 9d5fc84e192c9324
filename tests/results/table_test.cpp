#include "results/document/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "results/presentation/accuracy_text.h"
#include "results/presentation/report_table.h"
#include "tests/catch.h"
#include "tests/results/fixtures.h"

using namespace posbench;

namespace {

std::string row(const std::string& text, size_t number) {
  size_t begin = 0;
  while (number-- > 0) begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("the table of a run shows accuracy in and out of distribution and marks what did not finish") {
  const Summary summary = summarize(small_report());
  CHECK(to_console_text(accuracy_table(summary)) ==
        "                       flip_\n"
        "                       flop:\n"
        "encoding            length=9    counting\n"
        "----------------------------------------\n"
        "cope:positions=16  1.00/1.00  0.50/0.48d\n"
        "rope               1.00/0.69      failed\n");
  CHECK(accuracy_notes(summary) ==
        std::vector<std::string>{
            "sequence accuracy, in distribution / out of distribution, mean over seeds and splits",
            "no effective length: the report has no grid of lengths (evaluation.grid)",
            "d: the loss of one or more seeds diverged; they count as 0",
            "f: one or more seeds failed; they count as 0"});
}

TEST_CASE("accuracies are rounded to the nearest, and are 1 only where all was right") {
  CHECK(difference_text(-0.0004) == "+0.000");
  CHECK(difference_text(-0.0006) == "-0.001");
  CHECK(accuracy_text(0.474) == "0.47");
  CHECK(accuracy_text(0.476) == "0.48");
  CHECK(accuracy_text(0.9949) == "0.99");
  CHECK(accuracy_text(0.9951) == ">0.99");
  CHECK(accuracy_text(1 - 1e-6) == ">0.99");
  CHECK(accuracy_text(1) == "1.00");
  CHECK(accuracy_text(0) == "0.00");
  CHECK(accuracy_text(0.9994, 3) == "0.999");
  CHECK(accuracy_text(0.9996, 3) == ">0.999");
  CHECK(accuracy_text(mean(std::vector<double>(7, 1.0))) == "1.00");
}

TEST_CASE(
    "a cell says not learned where most seeds have not learned the task, whatever it is out of distribution") {
  const Summary summary = summarize(drawn_report(1, 2, 3, [](int, int encoding, int split, int seed) {
    return split > 0 ? 0.6 : encoding == 0 ? (seed == 0 ? 0.96 : 0.9) : (seed == 0 ? 0.5 : 0.96);
  }));
  const std::string text = to_console_text(accuracy_table(summary));
  CHECK(row(text, 2) == "encoding0  0.92/not learned");
  CHECK(row(text, 3) == "encoding1         0.81/0.60");  // two of three seeds have learned it
  const std::vector<std::string> notes = accuracy_notes(summary);
  CHECK(notes.at(2).starts_with("not learned: most seeds are under 0.95 in distribution, so the"));
}

TEST_CASE("a table of splits has brackets around what says nothing, since the task is not learned") {
  const auto draw = [](int task, int encoding, int split, int) {
    return split > 0 ? 0.1 * split : task == 0 && encoding == 0 ? 0.9 : 1.0;
  };
  Report report = drawn_report(2, 2, 3, draw);
  report.tasks[1].splits.pop_back();
  for (ExperimentResult& experiment : report.experiments) {
    if (experiment.id.task == report.tasks[1].task) experiment.splits.pop_back();
  }
  const std::vector<TaskTable> tables = split_tables(summarize(report));
  REQUIRE(tables.size() == 2);
  CHECK(tables[0].task == "task0");
  CHECK(to_markdown(tables[0].table) ==
        "| encoding | in_distribution | ood_far | ood_sparse |\n"
        "| :-- | --: | --: | --: |\n"
        "| encoding0 | 0.90 | (0.10) | (0.20) |\n"
        "| encoding1 | 1.00 | 0.10 | 0.20 |\n");
  CHECK(to_markdown(tables[1].table) ==
        "| encoding | in_distribution | ood_far |\n"
        "| :-- | --: | --: |\n"
        "| encoding0 | 1.00 | 0.10 |\n"
        "| encoding1 | 1.00 | 0.10 |\n");
  CHECK(
      accuracy_notes(summarize(report), Metric::sequence, /*by_split=*/true) ==
      std::vector<std::string>{
          "sequence accuracy, mean over seeds",
          "no effective length: the report has no grid of lengths (evaluation.grid)",
          "in brackets: most seeds are under 0.95 in distribution, so the out-of-distribution accuracy says nothing about the "
          "encoding"});
}

TEST_CASE("a table of splits has the points of a sweep as rows, also of points that lack a split") {
  Report report =
      drawn_report(2, 1, 1, [](int task, int, int split, int) { return split == 0 ? 1.0 : 0.5 + 0.2 * task; });
  for (size_t n = 0; n < 2; ++n) {
    report.experiments[n].swept = Swept{"copy", "rope", {{"model.width", n == 0 ? "32" : "64"}}};
  }
  report.tasks[0].splits.erase(report.tasks[0].splits.begin() + 1);
  report.experiments[0].splits.erase(report.experiments[0].splits.begin() + 1);
  const std::vector<TaskTable> tables = split_tables(summarize(report));
  REQUIRE(tables.size() == 1);
  CHECK(tables[0].task == "copy");
  CHECK(to_markdown(tables[0].table) ==
        "| encoding | model.width | in_distribution | ood_sparse | ood_far |\n"
        "| :-- | --: | --: | --: | --: |\n"
        "| rope | 32 | 1.00 | 0.50 | - |\n"
        "| rope | 64 | 1.00 | 0.70 | 0.70 |\n");
}

TEST_CASE("encodings are ranked from the best on, but not by one task or one seed") {
  const auto draw = [](int, int encoding, int, int) { return 0.96 + 0.01 * encoding; };
  CHECK(to_markdown(ranking_table(summarize(drawn_report(2, 1, 3, draw)))).find("1.0 (3 seeds cannot tell)") !=
        std::string::npos);
  CHECK(
      to_markdown(ranking_table(summarize(drawn_report(2, 3, 5, draw)))) ==
      "| encoding | mean rank by sequence accuracy, out of distribution (95 %) | in distribution (95 %) | tasks |\n"
      "| :-- | --: | --: | --: |\n"
      "| encoding2 | 1.0 (1.0 to 1.0) | 1.0 (1.0 to 1.0) | 2 |\n"
      "| encoding1 | 2.0 (2.0 to 2.0) | 2.0 (2.0 to 2.0) | 2 |\n"
      "| encoding0 | 3.0 (3.0 to 3.0) | 3.0 (3.0 to 3.0) | 2 |\n");
  CHECK(ranking_table(summarize(drawn_report(1, 3, 5, draw))).rows.empty());
  CHECK(ranking_table(summarize(drawn_report(2, 3, 1, draw))).rows.empty());
}

TEST_CASE("a table for a paper has a value with its interval in each cell, and all that are best are good") {
  const auto draw = [](int task, int encoding, int split, int) {
    return split == 0 ? 1.0 : task == encoding || encoding == 2 ? 0.75 : 0.5;
  };
  const Table table = paper_table(summarize(drawn_report(2, 3, 5, draw)), Metric::sequence);
  REQUIRE(table.rows.size() == 3);
  for (const size_t task : {0, 1}) {
    const auto row = std::ranges::find(table.rows, "encoding" + std::to_string(task),
                                       [](const auto& cells) { return cells.front().text; });
    CHECK((*row)[task + 1].text.starts_with("0.75 (0."));
    CHECK((*row)[task + 1].tone == Tone::good);
    CHECK((*row)[2 - task].tone == Tone::plain);
  }
}

TEST_CASE("encodings without a rank out of distribution come last, by their rank in distribution") {
  const auto rank = [](double mean) { return MeanRank{.mean = mean}; };
  std::vector<std::string> names;
  for (const Ranking& row : sort_by_rank({{"none", {}, {}},
                                          {"second", rank(2), {}},
                                          {"first", rank(1), {}},
                                          {"far2", rank(3), rank(2)},
                                          {"far1", rank(4), rank(1)}})) {
    names.push_back(row.encoding);
  }
  CHECK(names == std::vector<std::string>{"far1", "far2", "first", "second", "none"});
}

TEST_CASE("encodings that have not learned a task rank equally behind all others out of distribution") {
  const auto draw = [](int, int encoding, int split, int) {
    if (split == 0) return encoding == 0 ? 1.0 : 0.9 - 0.1 * encoding;
    return encoding == 0 ? 0.1 : 0.5;
  };
  CHECK(
      to_markdown(ranking_table(summarize(drawn_report(2, 3, 5, draw)))) ==
      "| encoding | mean rank by sequence accuracy, out of distribution (95 %) | in distribution (95 %) | tasks |\n"
      "| :-- | --: | --: | --: |\n"
      "| encoding0 | 1.0 (1.0 to 1.0) | 1.0 (1.0 to 1.0) | 2 |\n"
      "| encoding1 | 2.5 (2.5 to 2.5) | 2.0 (2.0 to 2.0) | 2 |\n"
      "| encoding2 | 2.5 (2.5 to 2.5) | 3.0 (3.0 to 3.0) | 2 |\n");
}

TEST_CASE("a spreadsheet gets a row for each experiment, split and metric, and one for what did not finish") {
  const Report report = small_report();
  const std::string text = to_csv(seed_table(report));
  CHECK(row(text, 0) ==
        "task,encoding,seed,status,parameters,steps,split,kind,metric,value,correct,total,low,high,multiple\r");
  const ExperimentResult& first = report.experiments.front();
  const auto has = [&](const std::string& line) { return text.find(line) != std::string::npos; };
  CHECK(has(fmt::format("\n{},{},{},ok,{},{},{},in_distribution,token,", first.id.task, first.id.encoding,
                        first.id.seed, first.parameters, first.steps, first.splits.front().name)));
  CHECK(has(",ood_far,out_of_distribution,sequence,0.6875,"));
  CHECK(has(",ood_far,out_of_distribution,above_trivial,"));
  CHECK(has("\ncounting,cope:positions=16,7,diverged,"));
  CHECK(has(",,,,,,,,,\r\n"));
}

TEST_CASE("a note names the splits of which more than a fifth of the samples are training samples") {
  Report report = small_report();
  CHECK(memory_notes(report).empty());
  report.tasks[0].training_samples = 20000;
  report.tasks[0].splits[0].seen_in_training = 0.53;
  report.tasks[0].splits[1].seen_in_training = 0.2;
  CHECK(
      memory_notes(report) ==
      std::vector<std::string>{
          "many test samples also occur in 20000 training samples, so accuracy there may be memory: flip_flop:length=9 "
          "(in_distribution 0.53)"});
}

TEST_CASE("what did not finish is listed with its reason") {
  CHECK(to_markdown(unfinished_table(small_report())) ==
        "| task | encoding | seed | status | reason |\n"
        "| :-- | :-- | --: | :-- | :-- |\n"
        "| counting | cope:positions=16 | 7 | diverged | the loss was inf |\n"
        "| counting | rope | 0 | failed | no memory for &lt;b&gt;1e9&lt;/b&gt; parameters |\n");
}
