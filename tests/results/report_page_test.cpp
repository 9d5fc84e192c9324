#include "results/presentation/report_page.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "results/document/page.h"
#include "results/document/page_template.h"
#include "results/document/render.h"
#include "results/presentation/length_bins.h"
#include "results/presentation/page_sections.h"
#include "results/presentation/report_document.h"
#include "tests/catch.h"
#include "tests/results/fixtures.h"

using namespace posbench;

namespace {

constexpr auto kIn = SplitKind::in_distribution;
constexpr auto kOut = SplitKind::out_of_distribution;
const std::vector<std::string> kBoth = {"in", "out"};

/// Lengths 1 to 40 in distribution and 30 to 60 beyond, `cases` at each.
ExperimentResult by_length(std::int64_t cases, std::int64_t correct) {
  ExperimentResult experiment;
  SplitResult in{.name = "in", .kind = kIn}, out{.name = "out", .kind = kOut};
  for (int length = 1; length <= 40; ++length) in.by_length.push_back({length, {cases, cases}, {}});
  for (int length = 30; length <= 60; ++length) out.by_length.push_back({length, {correct, cases}, {}});
  experiment.splits = {in, out};
  return experiment;
}

std::string make_page(const Report& report) {
  const NamedReport run{"runs/<mine>", report};
  return to_html(make_report_document({&run, 1}));
}

}  // namespace

TEST_CASE("what a page says cannot become markup or script") {
  CHECK(escape_html("a<b> & \"c\" 'd'") == "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  const std::string hostile = "</script><!--&";
  const std::string json = to_script_json({{hostile, hostile}});
  CHECK(json.find_first_of("<>&") == json.npos);
  CHECK(Json::parse(json) == Json{{hostile, hostile}});
  Report report = small_report();
  report.context["command"] = "{{data}}<script>";
  const std::string page = make_page(report);
  CHECK(page.find("{{data}}&lt;script&gt;") != page.npos);  // as text, and not filled in again
  CHECK(page.find("runs/&lt;mine&gt;") != page.npos);
  CHECK(page.find("<mine>") == page.npos);
}

TEST_CASE("a page is filled in at every place, and lets nothing out") {
  for (const char* part : {"{{title}}", "{{head}}", "{{documents}}", "{{data}}", "{{rows}}"}) {
    CAPTURE(part);
    CHECK(kPageTemplate.find(part) != kPageTemplate.npos);
    CHECK(make_page(small_report()).find(part) == std::string::npos);
  }
  CHECK(kPageTemplate.find("content=\"default-src 'none'; script-src 'sha256-") != kPageTemplate.npos);
  CHECK(kPageTemplate.find("unsafe-eval") == kPageTemplate.npos);
  CHECK(kPageTemplate.find(" src=") == kPageTemplate.npos);
}

TEST_CASE("numbers that are not finite are null on a page") {
  CHECK(round_for_page(0.12345678) == Json(0.123457));
  CHECK(round_for_page(0.9999999) == Json(0.999999));  // only 1 is all
  CHECK(round_for_page(std::numeric_limits<double>::infinity()).is_null());
}

namespace {

/// Trained at `trained`, tested there and at 64; `right` of 100 answers at 64.
ExperimentResult swept(const std::string& encoding, const std::string& trained, const std::string& width,
                       std::uint64_t seed, std::int64_t right) {
  const std::string task = "flip_flop:length=" + trained + ",model.width=" + width;
  ExperimentResult experiment{.id = {task, encoding, seed}};
  experiment.swept = Swept{"flip_flop", encoding, {{"task.length", trained}, {"model.width", width}}};
  experiment.final_loss = 0;
  const auto split = [](const char* name, SplitKind kind, int length, std::int64_t correct) {
    return SplitResult{.name = name,
                       .kind = kind,
                       .sequences = 100,
                       .token = {correct, 100},
                       .sequence = {correct, 100},
                       .by_length = {{length, {correct, 100}, {correct, 100}}}};
  };
  experiment.splits = {split("in_distribution", kIn, std::stoi(trained), 100),
                       split("ood_length", kOut, 64, right)};
  return experiment;
}

Report grid_report() {
  Report report;
  for (const char* trained : {"16", "32"}) {
    for (const char* width : {"8", "16"}) {
      report.tasks.push_back({.task = fmt::format("flip_flop:length={},model.width={}", trained, width),
                              .splits = {{"in_distribution", kIn, 0.5, {}}, {"ood_length", kOut, 0.5, {}}}});
      for (std::uint64_t seed = 0; seed < 2; ++seed) {
        report.experiments.push_back(swept("rope", trained, width, seed, 50 + 10 * static_cast<int>(seed)));
        report.experiments.push_back(swept("cope", trained, width, seed, 90));
      }
    }
  }
  return report;
}

/// The data of the page without the rows of its plots.
Json data_of(const std::string& page) {
  const std::string opening = "<script type=\"application/json\" id=\"page\">";
  const size_t begin = page.find(opening);
  REQUIRE(begin != page.npos);
  const size_t data = begin + opening.size();
  return Json::parse(page.substr(data, page.find("</script>", data) - data));
}

/// The plots of a section, from the data of the page.
Json plots_of(const std::string& page, const std::string& section) {
  const Json content = data_of(page);
  for (const Json& each : content["sections"]) {
    if (each["title"] == section) return each["plots"];
  }
  return Json::array();
}

}  // namespace

TEST_CASE("the page of a report with grids has a map of effective lengths, and another page has none") {
  Report report = drawn_report(1, 2, 5, [](int, int encoding, int, int) { return encoding == 0 ? 1.0 : 0.5; });
  CHECK(plots_of(make_page(report), "Effective length and distance").empty());
  for (ExperimentResult& experiment : report.experiments)
    experiment.grids = {drawn_grid("length", {1, 0.99, 0.95, 0.7, 0.4, 0.2})};
  const std::string page = make_page(report);
  const Json plots = plots_of(page, "Effective length and distance");
  REQUIRE(plots.size() == 1);
  CHECK(plots[0]["size"] == 2);
  CHECK(page.find(R"({"texts":["2x",""],"at":[0,1]})") != page.npos);
  CHECK(data_of(page)["sections"][0]["title"] == "Accuracy against the multiple of the trained length");
  CHECK(plots_of(page, "Accuracy against the multiple of the trained length")[0]["size"] == 2 * 6);
  CHECK(page.find(R"({"texts":["","not learned"],"at":[0,1]})") != page.npos);
}

TEST_CASE("an accuracy against the length does not mix splits that change other options") {
  Report report = drawn_report(1, 1, 1, [](int, int, int, int) { return 1.0; });
  using Options = std::map<std::string, std::string>;
  report.tasks[0].splits[0].options = Options{};
  report.tasks[0].splits[1].options = Options{{"length", "20"}};
  report.tasks[0].splits[2].options = Options{{"length", "30"}, {"p_ignore", "0.98"}};
  std::vector<SplitResult>& splits = report.experiments[0].splits;
  for (size_t n = 0; n < splits.size(); ++n) {
    const Count half{500, 1000};
    splits[n].token = splits[n].sequence = {1000, 2000};
    for (const int length : {1, 2})
      splits[n].by_length.push_back({10 * (static_cast<int>(n) + 1) + length, half, half});
  }
  const Json plots = plots_of(make_page(report), "Accuracy against length");
  REQUIRE(plots.size() == 2);
  CHECK(plots[0]["details"]["splits"] == Json{"in_distribution", "ood_far"});
  CHECK(plots[1]["details"]["splits"] == Json{"ood_sparse"});
  CHECK(plots[1]["title"] == "task0, p_ignore=0.98");
}

TEST_CASE("a sweep has accuracies by tested length, and what diverged counts as 0") {
  Report report = grid_report();
  std::erase_if(report.experiments, [](const ExperimentResult& e) { return e.swept->values[0].second == "32"; });
  ExperimentResult& diverged = report.experiments.front();  // rope, seed 0, width 8
  diverged.status = Status::diverged;
  diverged.diverged_step = 1;
  diverged.reason = "it did";
  diverged.splits.clear();
  const Summary summary = summarize(report);
  PageSource source{report, summary, {"cope", "rope"}, {}, {}};
  const Section section = phase_section(source);
  REQUIRE(section.plots.size() == 2);
  const Plot& tested = section.plots[0];
  CHECK(tested.title == "flip_flop, rope");
  CHECK(tested.columns[0].title == "model.width");
  // width 8: 16 and 64; the mean of 0 and 0.6 at 64
  CHECK(tested.rows[1] == Json{"8", "64", 0.3, 0.0, 0.6, 2, "d", "0.30", ""});
}

TEST_CASE("neighboring lengths are pooled until each point has enough cases") {
  const ExperimentResult many = by_length(100, 50), few = by_length(1, 1);
  const std::vector<LengthBin> of_many = length_bins({&many}, Axis::length, kBoth);
  REQUIRE(of_many.size() == 16);  // eight of each split
  CHECK(of_many.front().from == 1);
  CHECK(of_many.front().to == 5);
  CHECK(of_many[7].to == 40);  // a length that both splits test counts as in the first
  CHECK(of_many[7].trained);
  CHECK(of_many[8].from == 41);
  CHECK(!of_many[8].trained);
  CHECK(of_many.back().to == 60);
  for (size_t i = 1; i < of_many.size(); ++i) CHECK(of_many[i].from == of_many[i - 1].to + 1);
  CHECK(length_bins({&few}, Axis::length, kBoth).size() == 2);
  CHECK(length_bins({&few}, Axis::distance, kBoth).empty());
}

TEST_CASE("splits of other lengths have a separate curve by distance") {
  ExperimentResult experiment;
  const auto add = [&](const char* name, SplitKind kind, int length, int from, int to) {
    SplitResult split{.name = name, .kind = kind, .by_length = {{length, {100, 100}, {100, 100}}}};
    for (int distance = from; distance <= to; ++distance) split.by_distance.push_back({distance, {50, 100}});
    experiment.splits.push_back(split);
  };
  add("in", kIn, 32, 0, 7);
  add("far", kOut, 32, 8, 15);
  add("long", kOut, 128, 0, 7);
  const std::vector<LengthGroup> groups = length_groups({&experiment});
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].from == 32);
  CHECK(groups[0].splits == std::vector<std::string>{"in", "far"});
  CHECK(groups[1].to == 128);
  CHECK(groups[1].splits == std::vector<std::string>{"long"});
  for (const LengthBin& bin : length_bins({&experiment}, Axis::distance, groups[1].splits)) CHECK(!bin.trained);
  const auto short_bins = length_bins({&experiment}, Axis::distance, groups[0].splits);
  CHECK(short_bins.front().trained);
  CHECK(short_bins.back().to == 15);
  CHECK(short_bins.back().split == "far");
}

TEST_CASE("accuracy at a place is the mean over seeds, and what did not finish got nothing right") {
  const ExperimentResult half = by_length(100, 50), all = by_length(100, 100);
  ExperimentResult failed;
  failed.status = Status::failed;
  const std::vector<LengthBin> places{{1, 40, true, "in"}, {41, 60, false, "out"}, {61, 70, false, "out"}};
  const auto one = bin_values(places, {&half}, Axis::length, kBoth);
  REQUIRE((one[0] && one[1]));
  CHECK(one[0]->mean == 1);
  CHECK(one[1]->mean == 0.5);
  CHECK(one[1]->cases == 2000);
  CHECK(!one[2]);
  const auto three = bin_values(places, {&half, &all, &failed}, Axis::length, kBoth);
  CHECK(three[1]->mean == Approx(0.5));
  CHECK(three[1]->values == std::vector<double>{0.5, 1, 0});
}

TEST_CASE("runs stand side by side, and what both have is named after its run") {
  const Report before = small_report();
  Report after = small_report();
  for (ExperimentResult& e : after.experiments) {
    if (e.id.encoding == "rope") e.id.encoding = "alibi";
  }
  after.config["training"]["steps"] = 400;
  const NamedReport runs[] = {{"a", before}, {"b", after}};
  const MergedReport both = merge_reports(runs);
  std::set<std::string> names;
  for (const ExperimentResult& e : both.report.experiments) names.insert(e.id.encoding);
  CHECK(names == std::set<std::string>{"cope:positions=16 (a)", "cope:positions=16 (b)", "rope", "alibi"});
  CHECK(both.report.tasks == before.tasks);
  CHECK(both.report.experiments.size() == 14);
  REQUIRE(!both.warnings.empty());
  CHECK(both.warnings.front() == "config.training.steps is 200 in a and 400 in b");
  CHECK(merge_reports({runs, 1}).report.experiments == before.experiments);
}

TEST_CASE("runs that do not stand side by side are refused, with the reason") {
  const Report before = small_report();
  Report other_version = small_report(), other_splits = small_report();
  for (TaskBaseline& task : other_version.tasks) task.version = 9;
  for (ExperimentResult& e : other_version.experiments) e.task_version = 9;
  other_splits.tasks[0].splits.pop_back();
  for (ExperimentResult& e : other_splits.experiments) {
    if (e.id.task == other_splits.tasks[0].task) e.splits.pop_back();
  }
  const auto refusal = [&](const Report& other, const char* name) {
    const NamedReport runs[] = {{"a", before}, {name, other}};
    try {
      merge_reports(runs);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(refusal(other_version, "b") ==
        "a and b cannot be compared: task 'flip_flop:length=9' has version 1 in the first and 9 in the second, so "
        "its "
        "samples are others");
  CHECK(refusal(other_splits, "b") ==
        "b: task 'flip_flop:length=9' has other splits than in a run before it; report the runs one by one");
  CHECK(refusal(before, "a").find("give each run once") != std::string::npos);
}

TEST_CASE("a page of too many experiments leaves out the worst encodings, and states it") {
  const Report report = drawn_report(2, 50, 3, [](int, int encoding, int split, int seed) {
    return split == 0 ? 1.0 : 0.01 * encoding + 0.001 * seed;
  });
  const NamedReport run{"runs/mine", report};
  const Summary summary = summarize(report);
  const auto page = [&](size_t most) {
    return make_report_page(merge_reports({&run, 1}), summary, {&run, 1}, {}, most);
  };
  const std::vector<std::string> all = page(2 * 50 * 3).items.names;
  REQUIRE(all.size() == 50);
  const Page part = page(2 * 20 * 3 + 5);
  CHECK(part.items.names == std::vector<std::string>(all.begin(), all.begin() + 20));
  CHECK(part.notes.back().starts_with(
      "Note: The plots leave out 30 of 50 encodings, which have the worst mean ranks"));
  CHECK(page(1).items.names.size() == 1);
}
