#include "results/types/report.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "results/reports/experiment_json.h"
#include "results/reports/report_json.h"
#include "results/statistics/statistics.h"
#include "tests/catch.h"
#include "tests/results/fixtures.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

/// A report on disk while the test runs.
class File {
 public:
  explicit File(const std::string& text) : path_(directory_.write("report.json", text)) {}
  const std::filesystem::path& path() const { return path_; }

 private:
  TemporaryDirectory directory_;
  std::filesystem::path path_;
};

/// One change of a valid report, and the resulting error message.
struct Edit {
  const char* pointer;  // a JSON pointer
  Json value;           // discarded: the member is erased
  const char* message;  // begins with a path, or with "is" after that of the pointer
};

const Json kErase = Json(Json::value_t::discarded);

Json edited(Json json, const Edit& edit) {
  const Json::json_pointer pointer(edit.pointer);
  if (!edit.value.is_discarded()) {
    json[pointer] = edit.value;
  } else if (json.at(pointer.parent_pointer()).is_array()) {
    json.at(pointer.parent_pointer()).erase(std::stoul(pointer.back()));
  } else {
    json.at(pointer.parent_pointer()).erase(pointer.back());
  }
  return json;
}

/// Returns the message after the file's name: ": tasks[0].version is 0" for "is 0" and "/tasks/0/version".
std::string message_of(const Edit& edit) {
  std::string path, word;
  std::istringstream words(edit.pointer);
  while (std::getline(words, word, '/')) {
    if (!word.empty()) path += std::isdigit(word[0]) ? "[" + word + "]" : (path.empty() ? "" : ".") + word;
  }
  const std::string message = edit.message;
  return ": " + (message.starts_with("is ") ? path + " " : "") + message;
}

const std::vector<Edit>& malformed() {
  static const std::vector<Edit> edits = {
      {"", Json::array(), "the whole is a list, expected an object"},
      {"/schema_version", kErase, "is missing, so this is no report; give report.json of a run, or its directory"},
      {"/schema_version", 2, "is 2, newer than 1, the newest that this posbench reads; use a newer posbench"},
      {"/schema_version", "1", "is \"1\", expected an integer from 1 to 2147483647"},
      {"/schema_version", 0, "is 0, expected an integer from 1 to 2147483647"},
      {"/context", kErase, "is missing"},
      {"/context", "fast", "is \"fast\", expected an object"},
      {"/config", Json::array(), "is a list, expected an object"},
      {"/timing", nullptr, "is null, expected an object"},
      {"/tasks", kErase, "is missing"},
      {"/tasks", Json::object(), "is an object, expected a list"},
      {"/tasks/0", 7, "is 7, expected an object"},
      {"/tasks/0/task", "", "is \"\", expected a name"},
      {"/tasks/0/task", "counting", "tasks[1].task is \"counting\", listed before"},
      {"/tasks/0/version", 0, "is 0, expected an integer from 1 to 2147483647"},
      {"/tasks/0/splits/0/kind", "odd",
       "is \"odd\", expected one of in_distribution, out_of_distribution, shifted"},
      {"/tasks/0/splits/0/chance", 1.5, "is 1.5, expected a number from 0 to 1"},
      {"/tasks/0/splits/0/trivial/constant", "half", "is \"half\", expected a number from 0 to 1"},
      {"/tasks/0/splits/1/name", "in_distribution", "is \"in_distribution\", the name of an earlier split too"},
      {"/experiments", kErase, "is missing"},
      {"/experiments", Json::object(), "is an object, expected a list"},
      {"/experiments/2", Json::array(), "is a list, expected an object"},
      {"/experiments/2/task", kErase, "is missing"},
      {"/experiments/2/task", "parity", "is \"parity\", not listed in 'tasks'"},
      {"/experiments/2/encoding", "a\nb", "is \"a\\nb\", expected a name"},
      {"/experiments/2/seed", -1, "is -1, expected an integer from 0 to 18446744073709551615"},
      {"/experiments/2/seed", 0.5, "is 0.5, expected an integer from 0 to 18446744073709551615"},
      {"/experiments/1/seed", 0, "is 0, given before with the same task and encoding"},
      {"/experiments/2/task_version", 2, "is 2, but 1 in 'tasks'"},
      {"/experiments/2/status", "great", "is \"great\", expected one of ok, diverged, failed"},
      {"/experiments/5/reason", kErase, "experiments[5].status is \"diverged\", which needs a 'reason'"},
      {"/experiments/5/reason", 3, "is 3, expected a text"},
      {"/experiments/5/diverged_step", kErase, "is missing"},
      {"/experiments/5/splits/0", Json::object(), "experiments[5].splits[0].name is missing"},
      {"/experiments/2/status", "failed", "is \"failed\", which needs a 'reason'"},
      {"/experiments/2/parameters", 1e300, "is 1e+300, expected an integer from 0 to 1000000000000"},
      {"/experiments/2/steps", 3000000000u, "is 3000000000, expected an integer from 0 to 2147483647"},
      {"/experiments/2/stopped_early", 1, "is 1, expected true or false"},
      {"/experiments/2/final_loss", "low",
       "is \"low\", expected a number from -1.7976931348623157e+308 to 1.7976931348623157e+308"},
      {"/experiments/2/final_loss", nullptr, "is null, which needs a 'reason'"},
      {"/experiments/2/learning_curve/0/loss", nullptr,
       "experiments[2].learning_curve is a list, with a loss of null, which needs a 'reason'"},
      {"/experiments/2/learning_curve/1/step", 100, "is 100, not more than the step before it, 100"},
      {"/experiments/2/learning_curve/1/validation_token", 1.01, "is 1.01, expected a number from 0 to 1"},
      {"/experiments/4/learning_rate", kErase, "is missing"},
      {"/experiments/4/learning_rate", 0.002, "is 0.002, not one of its 'learning_rates'"},
      {"/experiments/4/learning_rates/1/learning_rate", 0.0001,
       "is 0.0001, not more than the learning_rate before it, 0.0001"},
      {"/experiments/4/learning_rates/2/diverged_step", kErase,
       "experiments[4].learning_rates[2].final_loss is null, expected a number from "
       "-1.7976931348623157e+308 to 1.7976931348623157e+308"},
      {"/experiments/2/splits/0", kErase, "experiments[2].splits is a list, with 1 of the 2 splits of its task"},
      {"/experiments/2/splits/1/name", "in_distribution",
       "is \"in_distribution\", the name of an earlier split too"},
      {"/experiments/2/splits/1/name", "ood_near",
       "is \"ood_near\", not a split of its task with kind out_of_distribution"},
      {"/experiments/2/splits/1/kind", "in_distribution",
       "experiments[2].splits[1].name is \"ood_far\", not a split of its task with kind in_distribution"},
      {"/experiments/3/splits/1/token/correct", 1301, "is 1301, more than its total, 1280"},
      {"/experiments/3/splits/1/token/correct", -1, "is -1, expected an integer from 0 to 1000000000000"},
      {"/experiments/3/splits/1/token/total", kErase, "is missing"},
      {"/experiments/3/splits/1/sequences", 639,
       "experiments[3].splits[1].sequence.total is 640, more than the sequences of its split, 639"},
      {"/experiments/3/splits/1/token/accuracy", 1.6, "is 1.6, expected 0.84375, which follows from 1080 of 1280"},
      {"/experiments/3/splits/1/token/accuracy", 0.843751,
       "is 0.843751, expected 0.84375, which follows from 1080 of 1280"},
      {"/experiments/3/splits/1/token/correct", 1081,
       "experiments[3].splits[1].token.accuracy is 0.84375, expected 0.844531, which follows from 1081 of 1280"},
      {"/experiments/3/splits/1/token/low", 0.9, "is 0.9, expected 0.822833, which follows from 1080 of 1280"},
      {"/experiments/3/splits/1/by_length/1/token/accuracy", 0, "is 0, expected null, as nothing was scored"},
      {"/experiments/3/splits/1/by_length/0", kErase,
       "experiments[3].splits[1].by_length is a list, with 0 of 0 tokens right, "
       "expected 1080 of 1280 as in its split"},
      {"/experiments/3/splits/1/by_distance/1", kErase,
       "experiments[3].splits[1].by_distance is a list, with 80 of 80 tokens right, "
       "expected 1080 of 1280 as in its split"},
      {"/experiments/3/splits/1/by_position",
       Json::array({Json{{"position", 1}, {"token", {{"correct", 1080}, {"total", 1281}}}}}),
       "is a list, with 1080 of 1281 tokens right, expected 1080 of 1280 as in its split"},
      {"/experiments/3/splits/1/sequence",
       {{"correct", 0}, {"total", 0}},
       "experiments[3].splits[1].sequence.total is 0, expected an integer from 1 to 1000000000000"},
      {"/experiments/3/splits/1/by_length/1/length", 9, "is 9, not more than the length before it, 9"},
      {"/experiments/3/splits/1/by_length/0/sequence/correct", 99999, "is 99999, more than its total, 640"},
      {"/experiments/3/splits/1/by_distance/0/token", nullptr, "is null, expected an object"},
  };
  return edits;
}

}  // namespace

TEST_CASE("a report that is written and read is the same") {
  const Report report = small_report();
  CHECK(report_from_json(parse_json(to_indented_json(to_json(report)), "a.json"), "a.json") == report);
  const File file(to_indented_json(to_json(report)));
  CHECK(read_report(file.path()) == report);
  CHECK(read_report(File(to_indented_json(to_json(Report{}))).path()) == Report{});
}

TEST_CASE("the fractions of samples seen in training are read back, and older reports have none") {
  Report report = small_report();
  CHECK(to_json(report)["tasks"].dump().find("training") == std::string::npos);
  report.tasks[0].training_samples = 20000;
  report.tasks[0].splits[0].seen_in_training = 0.53125;
  report.tasks[0].splits[1].seen_in_training = 0;
  CHECK(report_from_json(parse_json(to_indented_json(to_json(report)), "a.json"), "a.json") == report);
  Json invalid = to_json(report);
  invalid["tasks"][0]["splits"][0]["seen_in_training"] = 1.5;
  CHECK_THROWS_WITH(report_from_json(invalid, "a.json"), ContainsSubstring("tasks[0].splits[0].seen_in_training"));
}

TEST_CASE("counts by length and distance are read from bare integers too") {
  const Report report = small_report();
  Json json = to_json(report);
  for (Json& experiment : json["experiments"]) {
    for (Json& split : experiment["splits"]) {
      for (Json& item : split["by_length"]) {
        item = {item["length"], item["token"]["correct"], item["token"]["total"], item["sequence"]["correct"],
                item["sequence"]["total"]};
      }
      for (Json& item : split["by_distance"])
        item = {item["distance"], item["token"]["correct"], item["token"]["total"]};
    }
  }
  CHECK(json["experiments"][3]["splits"][1]["by_distance"][0] == Json{4, 80, 80});
  CHECK(report_from_json(json, "a.json") == report);
  CHECK(read_report(File(to_indented_json(json)).path()) == report);
  const auto refusal = [&](const char* place, const Json& value) {
    Json wrong = json;
    wrong[Json::json_pointer(place)] = value;
    try {
      report_from_json(wrong, "a.json");
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(
      refusal("/experiments/3/splits/1/by_distance/0", {4, 80}) ==
      "a.json: experiments[3].splits[1].by_distance[0] is a list, with 2 values, expected 3: distance, tokens right, "
      "tokens");
  CHECK(refusal("/experiments/3/splits/1/by_length/0/1", 1281) ==
        "a.json: experiments[3].splits[1].by_length[0][1] is 1281, more than its total, 1280");
  CHECK(refusal("/experiments/3/splits/1/by_length/1/0", 9) ==
        "a.json: experiments[3].splits[1].by_length[1][0] is 9, not more than the length before it, 9");
  CHECK(
      refusal("/experiments/3/splits/1/by_length/0/3", 441) ==
      "a.json: experiments[3].splits[1].by_length is a list, with 441 of 640 sequences right, expected 440 of 640 as "
      "in its split");
}

TEST_CASE("one experiment on one line reads back") {
  for (const ExperimentResult& experiment : small_report().experiments) {
    const std::string line = to_compact_json(to_json(experiment));
    CHECK(line.find('\n') == line.npos);
    CHECK(experiment_from_json(parse_json(line, "x"), "x") == experiment);
  }
  Json json = to_json(small_report().experiments[0]);
  json["splits"][0]["token"]["correct"] = "all";
  CHECK_THROWS_WITH(
      experiment_from_json(json, "experiments.jsonl:12"),
      "experiments.jsonl:12: splits[0].token.correct is \"all\", expected an integer from 0 to 1000000000000");
}

TEST_CASE("every malformed report is refused with its file, the JSON path and what was expected") {
  const Json json = to_json(small_report());
  for (const Edit& edit : malformed()) {
    INFO(edit.pointer << " " << edit.value);
    const Json changed = edited(json, edit);
    const File file(to_indented_json(changed));
    CHECK_THROWS_WITH(report_from_json(changed, "before.json"), "before.json" + message_of(edit));
    CHECK_THROWS_WITH(read_report(file.path()), file.path().string() + message_of(edit));
  }
}

TEST_CASE("an empty file, a page and a manifest are refused with what to give instead") {
  const std::string instead = "; give report.json of a run, or its directory";
  const File empty(" \n");
  CHECK_THROWS_WITH(read_report(empty.path()), empty.path().string() + " is empty" + instead);
  CHECK_THROWS_WITH(parse_report("<!DOCTYPE html>", "a.html"), "a.html is a page, not a report" + instead);
  for (const std::string experiments : {"[]", R"([{"task": "a", "encoding": "b", "seed": 0}])"}) {
    CHECK_THROWS_WITH(parse_report(R"({"config": {}, "save_models": false, "experiments": )" + experiments + "}",
                                   "manifest.json"),
                      "manifest.json is the manifest of a run; give its directory");
  }
}

TEST_CASE("the first fault of a long report is named, with any number of threads") {
  const Report report = drawn_report(2, 5, 60, [](int, int, int, int) { return 0.5; });
  const File whole(to_indented_json(to_json(report)));
  CHECK(read_report(whole.path()) == report);
  Json json = to_json(report);
  for (size_t i = 301; i < 600; i += 7) json["experiments"][i]["steps"] = -1;
  const File file(to_indented_json(json));
  CHECK_THROWS_WITH(
      read_report(file.path()),
      file.path().string() + ": experiments[301].steps is -1, expected an integer from 0 to 2147483647");
}

TEST_CASE("an experiment that did not finish has no accuracy to show") {
  Json json = to_json(small_report());
  json["experiments"][5]["splits"] = json["experiments"][0]["splits"];
  CHECK_THROWS_WITH(
      report_from_json(json, "a.json"),
      "a.json: experiments[5].splits is a list, expected an empty one, as the experiment is diverged");
}

TEST_CASE("a newer schema is reported as newer, whatever else it changed") {
  Json json = to_json(small_report());
  json["schema_version"] = 2;
  json["experiments"] = {{{"trial", 1}}};
  const File file(to_indented_json(json));
  CHECK_THROWS_WITH(read_report(file.path()),
                    file.path().string() +
                        ": schema_version is 2, newer than 1, the newest that this posbench "
                        "reads; use a newer posbench");
}

TEST_CASE("unknown fields are ignored everywhere") {
  Json json = to_json(small_report());
  for (const char* pointer : {"/note", "/tasks/0/note", "/tasks/0/splits/0/note", "/experiments/0/note",
                              "/experiments/0/learning_curve/0/note", "/experiments/0/splits/0/note",
                              "/experiments/0/splits/0/token/note", "/experiments/0/splits/0/by_length/0/note"}) {
    json[Json::json_pointer(pointer)] = {{"new", true}};
  }
  CHECK(report_from_json(json, "a.json") == small_report());
}

TEST_CASE("accuracies and intervals may be missing, and the summary is not read") {
  Json json = to_json(small_report());
  Json& token = json["experiments"][0]["splits"][0]["token"];
  CHECK(token["accuracy"] == 1.0);
  for (const char* derived : {"accuracy", "low", "high"}) token.erase(derived);
  json["summary"] = "all fine";
  json.erase("ranking");
  CHECK(to_json(report_from_json(json, "a.json")) == to_json(small_report()));
}

TEST_CASE("the order in which a file lists its members does not matter") {
  const Json json = to_json(small_report());
  Json reversed = Json::object();
  for (auto item = json.rbegin(); item != json.rend(); ++item) reversed[item.key()] = *item;
  const File file(to_indented_json(reversed));
  CHECK(read_report(file.path()) == small_report());
}

TEST_CASE("a loss that is not finite is null in JSON") {
  ExperimentResult experiment = small_report().experiments[0];
  experiment.final_loss = std::numeric_limits<double>::infinity();
  experiment.learning_curve[0].loss = std::numeric_limits<double>::quiet_NaN();
  const Json json = to_json(experiment);
  CHECK(json.at("final_loss").is_null());
  CHECK(json.at("learning_curve").at(0).at("loss").is_null());
}

TEST_CASE("where nothing was scored, the accuracy is null with a reason") {
  const Json count = to_json(small_report().experiments[0]).at("splits").at(1).at("by_length").at(1).at("token");
  CHECK(to_compact_json(count) ==
        R"({"correct":0,"total":0,"accuracy":null,"reason":"nothing was scored","low":0.0,"high":1.0})");
}

TEST_CASE("accuracies in a report are rounded to the nearest millionth") {
  ExperimentResult experiment = small_report().experiments[0];
  experiment.splits[0].token = {2, 3};
  experiment.splits[0].sequence = {1, 3};
  const Json split = to_json(experiment).at("splits").at(0);
  CHECK(split.at("token").at("accuracy") == 0.666667);
  CHECK(split.at("sequence").at("accuracy") == 0.333333);
}

TEST_CASE("a report finds the baselines of its tasks") {
  const Report report = small_report();
  CHECK(find_baseline(report, "counting").version == 2);
  CHECK_THROWS_AS(find_baseline(report, "parity"), std::out_of_range);
}

// Not run by default: report_schema_test.py runs it, to validate the output of to_json.
TEST_CASE("writes a report to the path POSBENCH_WRITE_REPORT", "[.write_report]") {
  const char* path = std::getenv("POSBENCH_WRITE_REPORT");
  REQUIRE(path != nullptr);
  Report report = small_report();
  report.experiments[0].grids = {drawn_grid("length", {1, 0.95, 0.4, 0.2}), drawn_grid("distance", {1, 1})};
  report.experiments[1].grids = {drawn_grid("length", {1, 1, 1, 1, 1, 1, 1, 0.9}),
                                 drawn_grid("distance", {1, 0.5})};
  std::ofstream(path) << to_indented_json(to_json(report));
}
