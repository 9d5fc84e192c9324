// `posbench board`, the embedded reports, and runs of matched compute.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "encodings/presets.h"
#include "encodings/registry.h"
#include "harness/config/embedded_data.h"
#include "harness/config/matched_compute.h"
#include "harness/runs/suite.h"
#include "results/json/json.h"
#include "results/presentation/accuracy_text.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/harness/report_json.h"

using namespace posbench;

TEST_CASE("the program has the board's reports and the costs of their encodings") {
  const std::vector<StoredReport> reports = board_reports();
  REQUIRE(reports.front().name == "results/data/reference/report.json");
  const TemporaryDirectory directory;
  const Json board = parse_json(posbench_command(directory, "board --format json").out, "board");
  std::set<std::string> shown;
  for (const Json& task : board.at("tasks"))
    for (const Json& row : task.at("rows")) shown.insert(spec_name(row.at("encoding").get<std::string>()));
  CHECK(shown.size() > 60);
  for (const std::string& name : shown) {
    INFO(name);
    if (find_preset(name))
      CHECK_THAT(posbench_command(directory, "show " + name).out, ContainsSubstring("In short"));
    const bool composed = encodings().find(name).members({name, {}}).size() > 1;  // it costs what its members do
    CHECK((composed || find_preset(name) != nullptr || board_costs().costs.contains(name)));
  }
}

TEST_CASE("a stack of a profile is a model of its own on the board, also with another encoding") {
  const TemporaryDirectory directory;
  const std::string run = "run --profile kimi_linear -s 10 -t even_pairs -q --set training.steps=1 ";
  REQUIRE(posbench_command(directory, run + "-e none,rope -o mine").code == 0);
  const std::string board = "board mine -t even_pairs --allow-different-budget --format json";
  const Json task = parse_json(posbench_command(directory, board).out, "board").at("tasks").at(0);
  std::set<std::string> models;
  for (const Json& row : task.at("other_models")) models.insert(row.at("encoding").get<std::string>());
  for (const char* name :
       {"kimi_linear", "kimi_linear (mine)", "kimi_linear (rope)", "qwen3_next", "olmo_hybrid", "inkling_model"})
    CHECK(models.contains(name));
  REQUIRE(posbench_command(directory, run + "--set model.width=32 -o narrow").code == 0);
  const Outcome refused = posbench_command(directory, "board narrow");
  CHECK(refused.code == 2);
  CHECK(refused.error.find("config.model.width") != std::string::npos);
}

TEST_CASE(
    "the board has the best encoding over all tasks, counts what it leaves out, and fits the width of pipes") {
  const TemporaryDirectory directory;
  const Json over = parse_json(posbench_command(directory, "board --format json").out, "board").at("over_tasks");
  CHECK(over.at("tasks").size() + over.at("unlearned").size() + over.at("marked").size() >= 49);
  const Outcome outcome = posbench_command(directory, "board");
  REQUIRE(outcome.code == 0);
  const std::string best = over.at("encodings").at(0).at("encoding");
  CHECK(outcome.out.find("\n" + best + " ") != std::string::npos);
  CHECK_THAT(outcome.out, ContainsSubstring(fmt::format("\nOver {} tasks", over.at("tasks").size())));
  CHECK_THAT(outcome.out, ContainsSubstring(fmt::format("Left out are {} of ", over.at("incomplete").size())));
  CHECK_THAT(outcome.out, ContainsSubstring(over.at("marked").at(0).get<std::string>()));
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line) && !line.starts_with("learned by:");) CHECK(line.size() <= 100);
}

TEST_CASE("the board ranks encodings by the tasks of aspects that they keep, and always has a ranking") {
  const TemporaryDirectory directory;
  const auto ranked = [&](const std::string& arguments) {
    const Outcome outcome = posbench_command(directory, "board --aspects " + arguments + " --format json");
    INFO(outcome.error);
    REQUIRE(outcome.code == 0);
    return Json::parse(outcome.out);
  };
  const Json at_double = ranked("recall --length 2x"), far = ranked("recall --length 100");
  CHECK(at_double.at("encodings").size() == far.at("encodings").size());
  size_t before = at_double.at("tasks").size();
  for (const Json& row : at_double.at("encodings")) {
    CHECK(row.at("kept").size() <= before);
    CHECK(row.at("kept").size() <= row.at("tested").get<size_t>());
    CHECK(row.at("tested") <= row.at("learned"));
    before = row.at("kept").size();
  }
  for (const Json& row : far.at("encodings")) CHECK(row.at("kept").empty());
  const Json both = ranked("counting,recall -e rope,alibi");
  CHECK(both.at("encodings").size() == 2);
  const Json card = Json::parse(posbench_command(directory, "show rope --format json").out);
  for (const Json& row : both.at("encodings")) {
    if (row.at("encoding") != "rope") continue;
    CHECK(row.at("scores").at(0).at("score") == card.at("aspects").at(1).at("score"));
    CHECK(row.at("scores").at(1).at("score") == card.at("aspects").at(0).at("score"));
  }
  CHECK_THAT(refusal(directory, "board --aspects count -q"),
             ContainsSubstring("unknown aspect 'count'; did you mean 'counting'? (aspects: recall, counting,"));
  CHECK_THAT(refusal(directory, "board --aspects recall --length four"),
             ContainsSubstring("--length is 'four', expected a multiple of the trained length from 1 to 1000"));
  CHECK(refusal(directory, "board --length 4x").find("--aspects") != std::string::npos);
  CHECK(refusal(directory, "board --aspects recall -t mqar").find("excludes") != std::string::npos);
  CHECK_THAT(refusal(directory, "recommend --aspects recall"), ContainsSubstring("use 'posbench board --aspects"));
}

TEST_CASE("a task with a mark is shown with the reason, and the mark does not hold for other options") {
  const TemporaryDirectory directory;
  const std::string plugin = "--plugin '" POSBENCH_MARKED_TASK "' ";
  const auto output = [&](const std::string& arguments) {
    const Outcome outcome = posbench_command(directory, plugin + arguments);
    INFO(outcome.error);
    CHECK(outcome.code == 0);
    return outcome.out;
  };
  CHECK_THAT(output("show marked_task"),
             ContainsSubstring("\nlearnability:   open, with the default options: Nothing was tried.\n"));
  CHECK(output("show flip_flop").find("learnability") == std::string::npos);
  std::map<std::string, std::string> learnability;
  const Json listed = parse_json(output("list tasks --json"), "list");
  for (const Json& task : listed.at("tasks"))
    learnability[task.at("id").get<std::string>()] = task.at("learnability").get<std::string>();
  CHECK(learnability.at("marked_task") == "open");
  CHECK(learnability.at("flip_flop") == "learnable");

  output(
      "run --profile smoke -t marked_task,marked_task:length=5 -e none,rope,alibi,cope,sinusoidal,fox,t5_bias -q -o "
      "smoke");
  const std::string summary = output("board smoke --only-own --allow-different-budget");
  std::map<std::string, std::string> rows;  // of the summary, by task
  std::istringstream lines(summary);
  for (std::string line; std::getline(lines, line);) rows.emplace(line.substr(0, line.find(' ')), line);
  REQUIRE(rows.contains("marked_task"));
  REQUIRE(rows.contains("marked_task:length=5"));
  CHECK(rows.at("marked_task").find(" open ") != std::string::npos);
  CHECK(rows.at("marked_task:length=5").find(" 0 of 7 ") != std::string::npos);
  CHECK(summary.find("1 task marked control or open does not count: marked_task.") != std::string::npos);
}

TEST_CASE("the counts of a task are those of all encodings, whichever are selected") {
  const TemporaryDirectory directory;
  const Json json =
      parse_json(posbench_command(directory, "board -e cope -t flip_flop --format json").out, "board");
  CHECK(json.at("tasks").at(0).at("encodings") >= 50);
  CHECK(json.at("tasks").at(0).at("rows").size() == 1);
}

TEST_CASE("the rows of an added report have its name if the board has the encoding") {
  const TemporaryDirectory directory;
  const std::string reference = POSBENCH_SOURCE_DIR "/results/data/reference/report.json";
  const Outcome all =
      posbench_command(directory, "board " + reference + " -t flip_flop --only-own -e rope,c* --format json");
  REQUIRE(all.code == 0);
  const Json json = parse_json(all.out, "board");
  REQUIRE(json.at("tasks").size() == 1);
  CHECK(json.at("tasks").at(0).at("rows").size() == 2);
  for (const Json& row : json.at("tasks").at(0).at("rows")) {
    CHECK(row.at("own") == true);
    CHECK(row.at("encoding").get<std::string>().ends_with("report.json)"));
  }
  for (const std::string flag : {"", " --only-own"}) {
    CHECK(posbench_command(directory, "board " + reference + " -t flip_flop -o board.html" + flag).code == 0);
    const std::string page = read_whole(directory / "board.html");
    CHECK((page.find("\"stick_breaking\"") != page.npos) == flag.empty());
  }
}

TEST_CASE("the board refuses unknown names and incompatible reports with a message of one line") {
  const TemporaryDirectory directory;
  const auto refusal = [&](const std::string& arguments) {
    const Outcome outcome = posbench_command(directory, "board -q " + arguments);
    CHECK(outcome.code == 2);
    CHECK(std::count(outcome.error.begin(), outcome.error.end(), '\n') == 1);
    return outcome.error;
  };
  CHECK_THAT(refusal("-t flip_flup"),
             ContainsSubstring("the board has no task 'flip_flup'; did you mean 'flip_flop'?"));
  CHECK(refusal("-t flip_flup --split ood_far5").find("the board has no task 'flip_flup'") != std::string::npos);
  CHECK(refusal("-e roppe").find("the board has no encoding 'roppe'; did you mean 'rope'?") != std::string::npos);
  CHECK_THAT(refusal("--split ood_far5"),
             ContainsSubstring("no task of the board has a split 'ood_far5'; did you mean 'ood_far"));
  CHECK_THAT("\n" + posbench_command(directory, "board -t flip_flop -e rope,local").error,
             ContainsSubstring("\nthe board has no result of 'local'; 'posbench run -e local' makes some"));
  CHECK(refusal("--family rotory").find("did you mean 'rotary'") != std::string::npos);
  CHECK(refusal("--only-own").find("needs a report") != std::string::npos);
  CHECK(refusal("nothing.json").find("nothing.json: there is no such file") != std::string::npos);
  REQUIRE(posbench_command(directory, "run --profile smoke -t flip_flop -e none -q -o smoke").code == 0);
  CHECK(refusal("smoke").find("--allow-different-budget") != std::string::npos);
  CHECK(posbench_command(directory, "site -q -o site --submissions smoke").error == refusal("smoke"));
  CHECK(posbench_command(directory, "board smoke --only-own --allow-different-budget").code == 0);
  CHECK_THAT(posbench_command(directory, "board smoke --allow-different-budget").out,
             ContainsSubstring("did not run all of these tasks: none (smoke), "));
  CHECK_THAT(posbench_command(directory, "board smoke -t flip_flop --allow-different-budget").out,
             ContainsSubstring("\nnone (smoke) * ") && ContainsSubstring("--full adds the other 69 encodings "));
  const std::string only =
      "board smoke -t flip_flop --only-own --kernel any --format json --allow-different-budget";
  const Json own = Json::parse(posbench_command(directory, only).out);
  CHECK(own["tasks"][0]["rows"][0]["encoding"] == "none (smoke)");
  CHECK(own["tasks"][0]["rows"][0]["kernel"] == "any");
}

TEST_CASE("the board names the splits of a selected task whose spec has several options") {
  const TemporaryDirectory directory;
  const std::string task = "flip_flop:length=16,p_ignore=0.5";
  REQUIRE(posbench_command(directory, "run --profile smoke -t " + task + " -e none -q -o smoke").code == 0);
  const Outcome outcome =
      posbench_command(directory, "board -q smoke --allow-different-budget --split ood_far4 -t " + task);
  CHECK(outcome.code == 2);
  CHECK(outcome.error.starts_with("posbench: task '" + task + "' has no split 'ood_far4'"));
}

TEST_CASE("the board selects the tasks that test an aspect") {
  const TemporaryDirectory directory;
  const std::string csv = posbench_command(directory, "board -e rope -t aspect:recall --format csv").out;
  CHECK(csv.find("\nmqar,") != std::string::npos);
  CHECK(csv.find("\nparity_check,") == std::string::npos);
}

TEST_CASE("the number of steps follows from the costs of encodings") {
  const MatchedCompute match{"none", {{"none", 1}, {"slow", 3}, {"slower", 1e6}, {"fast", 0.5}}};
  CHECK(matched_steps(match, 1000, "none") == 1000);
  CHECK(matched_steps(match, 1000, "slow") == 333);
  CHECK(matched_steps(match, 1000, "fast") == 2000);
  CHECK(matched_steps(match, 1000, "slower") == 1);
  CHECK(matched_steps({"slow", match.costs}, 1000, "none") == 3000);
  CHECK_THROWS_WITH(matched_steps(match, 1000, "mine"),
                    Catch::Matchers::StartsWith("the cost of 'mine' is not known"));
}

TEST_CASE("the configuration stores the costs for matched compute, and may set them") {
  const RunConfig config =
      make_config({.profile = "smoke", .tasks = "flip_flop", .encodings = "none,cope", .match_compute = "none"});
  REQUIRE(config.match_compute);
  CHECK(config.match_compute->costs.size() == 2);
  CHECK(config.match_compute->costs.at("cope") == board_costs().costs.at("cope"));
  CHECK(to_json(config_from_json(to_json(config), "test")) == to_json(config));
  CHECK(!to_json(make_config({.profile = "smoke"})).contains("match_compute"));
  const Suite suite = make_suite(config);
  CHECK(suite.experiments[0].training().steps == 20);
  CHECK(suite.experiments[1].training().steps == matched_steps(*config.match_compute, 20, "cope"));
  CHECK_THROWS_WITH(make_config({.profile = "smoke", .encodings = "cope:positions=7", .match_compute = "none"}),
                    Catch::Matchers::StartsWith(
                        "the cost of 'cope:positions=7' is not known, and matching compute needs it: measure it"));
  TemporaryDirectory directory;
  directory.write("mine.json", R"({"profile": "smoke", "encodings": ["cope:positions=7"], "tasks": ["flip_flop"],
                                   "match_compute": {"base": "none", "costs": {"cope:positions=7": 2}}})");
  CHECK(make_suite(make_config({.file = directory / "mine.json"})).experiments[0].training().steps == 10);
  directory.write("mine.json", R"({"match_compute": {"base": "none", "costs": {"cope": "2"}}})");
  CHECK_THROWS_WITH(make_config({.file = directory / "mine.json"}),
                    ContainsSubstring("expected a number from 0.001 to 1e6"));
  const Json without_base =
      Json::parse(R"({"profile": "smoke", "tasks": ["flip_flop"], "encodings": ["alibi"], "seeds": [0],
                                            "match_compute": {"base": "none", "costs": {"alibi": 1.5}}})");
  CHECK_THROWS_AS(make_suite(config_from_json(without_base, "config")), InputError);
  directory.write("mine.json", R"({"match_compute": {"costs": {}}})");
  CHECK_THROWS_WITH(make_config({.file = directory / "mine.json"}), ContainsSubstring("expected an encoding"));
}

TEST_CASE("matched compute gives the same bytes in a single run, in merged shards, and from its report") {
  const TemporaryDirectory directory;
  const std::string run = "run --profile smoke -t flip_flop,even_pairs -e none,cope,fox -q --match-compute none ";
  REQUIRE(posbench_command(directory, run + "-o whole").code == 0);
  const Json whole = without_context(directory / "whole/report.json");
  std::map<std::string, int> steps;
  for (const Json& e : whole.at("experiments")) steps[e.at("encoding")] = e.at("steps");
  CHECK(steps.at("none") == 20);
  CHECK(steps.at("cope") < 20);
  REQUIRE(posbench_command(directory, run + "--shard 1/2 -o one").code == 0);
  REQUIRE(posbench_command(directory, run + "--shard 2/2 -o two").code == 0);
  REQUIRE(posbench_command(directory, "merge one two -o merged").code == 0);
  CHECK(without_context(directory / "merged/report.json") == whole);
  REQUIRE(posbench_command(directory, "run --config whole/report.json -q -o repeated").code == 0);
  CHECK(without_context(directory / "repeated/report.json") == whole);
}

namespace {

/// Returns the line of each task in the text.
std::map<std::string, std::string> lines_of_tasks(const std::string& text, const Json& board) {
  std::map<std::string, std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find(' '));
    const Json& tasks = board.at("tasks");
    if (std::ranges::any_of(tasks, [&](const Json& task) { return task.at("task") == name; })) {
      CHECK(found.emplace(name, line).second);
      CHECK(line.size() <= 80);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("the board of one or two encodings, or of another model, has a line for each task with its means") {
  const TemporaryDirectory directory;
  static const Json all =
      Json::parse(posbench_command(directory, "board -e cope,rope,alibi,lstm --format json").out);
  const std::string names = GENERATE("cope", "rope,alibi", "lstm", "lstm,rope");
  CAPTURE(names);
  const Outcome shown = posbench_command(directory, "board --full -e " + names);
  REQUIRE(shown.code == 0);
  std::map<std::string, std::string> lines = lines_of_tasks(shown.out, all);
  const std::vector<std::string> selected = split_list(names, ',');
  std::set<std::string> tasks;  // with a row of these names
  for (const Json& task : all.at("tasks")) {
    for (const char* kind : {"rows", "other_models"}) {
      for (const Json& row : task.at(kind)) {
        if (std::ranges::find(selected, row.at("encoding").get<std::string>()) == selected.end()) continue;
        tasks.insert(task.at("task"));
        const bool learned = row.at("standing").get<std::string>().find("not learned") == std::string::npos;
        const std::string text = learned ? accuracy_text(row.at("mean").get<double>()) : "not learned";
        CHECK(lines[task.at("task")].find(" " + text) != std::string::npos);
      }
    }
  }
  CHECK(lines.size() == tasks.size());
}
