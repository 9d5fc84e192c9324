// The results that `posbench show` prints.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "harness/config/embedded_data.h"
#include "results/json/json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"

using namespace posbench;

TEST_CASE("show has the equation, a score for each aspect, every task of the board and the claims") {
  const TemporaryDirectory directory;
  const Outcome outcome = posbench_command(directory, "show rotary --full");
  REQUIRE(outcome.code == 0);
  CHECK(outcome.out.starts_with("rope (encoding, rotary)\n\n    score_h(i, j)"));
  CHECK(outcome.out.find("RoFormer, GPT-J") != std::string::npos);
  CHECK(outcome.out.find(" tasks, out of distribution: ") != std::string::npos);
  CHECK(outcome.out.find("rope-selective-copy-fails") != std::string::npos);
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.size() <= 100);
  }
  const Json card = Json::parse(posbench_command(directory, "show rope --format json").out);
  const Json board = Json::parse(posbench_command(directory, "board -e rope --format json").out);
  CHECK(card["board"]["tasks"].size() == board["tasks"].size());
  REQUIRE(card["aspects"].size() == 8);
  for (const Json& aspect : card["aspects"]) {
    INFO(aspect);
    CHECK(aspect["low"].get<double>() <= aspect["score"].get<double>());
    CHECK(aspect["score"].get<double>() <= aspect["high"].get<double>());
    CHECK(aspect["learned"].get<int>() <= aspect["tasks"].get<int>());
    const auto found = outcome.out.find("\n" + aspect["aspect"].get<std::string>() + " ");
    CHECK(found != std::string::npos);
  }
  const Json task = Json::parse(posbench_command(directory, "show flip_flop --format json").out);
  CHECK(task["id"] == "flip_flop");
  CHECK(task["board"]["tasks"].size() == 1);
}

TEST_CASE("show, board and a dry run of thousands of experiments fit on a screen, and --full has the rest") {
  const TemporaryDirectory directory;
  for (const std::string arguments :
       {"show rope", "show flip_flop", "board", "board -e rope,alibi", "board -t flip_flop",
        "run --profile smoke -t aspect:recall -e none,rope,cope -s 40 --dry-run"}) {
    CAPTURE(arguments);
    const auto count = [&](const std::string& more) {
      const Outcome outcome = posbench_command(directory, arguments + more);
      REQUIRE(outcome.code == 0);
      CHECK((outcome.out.find("--full ") == std::string::npos) == !more.empty());
      return std::ranges::count(outcome.out, '\n');
    };
    const auto lines = count("");
    CHECK(lines <= 45);
    CHECK(count(" --full") > 2 * lines);
  }
}

TEST_CASE("the screen of an encoding states the scores of its whole card") {
  const TemporaryDirectory directory;
  for (const std::string encoding : {"rope", "path", "layers"}) {
    const std::string shown = posbench_command(directory, "show " + encoding).out;
    const Json card = Json::parse(posbench_command(directory, "show " + encoding + " --format json").out);
    for (const Json& aspect : card["aspects"]) {
      INFO(encoding << ' ' << aspect);
      const size_t begin = shown.find("\n" + aspect["aspect"].get<std::string>() + "  ");
      REQUIRE(begin != std::string::npos);
      const std::string line = shown.substr(begin + 1, shown.find('\n', begin + 1) - begin - 1);
      CHECK_THAT(line,
                 ContainsSubstring(fmt::format("{} of {}", aspect["tasks"].get<int>(), aspect["of"].get<int>())));
      CHECK_THAT(line, ContainsSubstring(fmt::format("{:.2f} to {:.2f}", aspect["low"].get<double>(),
                                                     aspect["high"].get<double>())));
    }
  }
}

TEST_CASE("show describes an encoding of the user's report, with options or without a registration") {
  const TemporaryDirectory directory;
  REQUIRE(posbench_command(directory,
                           "run -q -t flip_flop -e cope,cope:positions=4 -s 2 --set training.steps=1 "
                           "--set evaluation.sequences=16 -o run")
              .code == 0);
  const std::string file = (directory / "run/report.json").string();
  Json report = read_json(file);
  for (Json& experiment : report["experiments"]) {
    if (experiment["encoding"] == "cope:positions=4" && experiment["seed"] == 1) experiment["encoding"] = "mine";
  }
  report["config"]["encodings"] = {"cope", "cope:positions=4", "mine"};
  write_file(file, report.dump());
  CHECK_THAT(posbench_command(directory, "show mine run/report.json").error,
             ContainsSubstring("--allow-different-budget"));
  const auto shown = [&](const std::string& name) {
    return posbench_command(directory, "show " + name + " run/report.json --allow-different-budget");
  };
  CHECK(shown("mine").out.starts_with("mine (encoding, of a report)\n\nIn short: it learns 0 of 1 tasks"));
  const std::string cope = shown("cope:positions=4").out;
  CHECK(cope.starts_with("cope:positions=4 (encoding, contextual)\n\n    score(i, j)"));
  CHECK(cope.find("it learns 0 of 1 tasks") != std::string::npos);
  CHECK(shown("cope").out.find("\ncope (run/report.json)\n") != std::string::npos);
  CHECK(shown("ours").error.find("is called 'ours'") != std::string::npos);
}

TEST_CASE("show refuses names that it does not know, and writes a page") {
  const TemporaryDirectory directory;
  CHECK(refusal(directory, "show ropes").find("is called 'ropes'; did you mean 'rope'?") != std::string::npos);
  CHECK_THAT(refusal(directory, "show LSTM"),
             ContainsSubstring("'lstm' is a layer in place of attention (model.block=lstm), not an encoding"));
  CHECK_THAT(refusal(directory, "card rope"),
             ContainsSubstring("'posbench card' was removed; use 'posbench show"));
  REQUIRE(posbench_command(directory, "show rope -o rope.html").code == 0);
  const std::string page = read_whole(directory / "rope.html");
  CHECK(page.find("<title>rope (encoding, rotary)</title>") != std::string::npos);
}

TEST_CASE("every command with tables writes them for LaTeX") {
  const TemporaryDirectory directory;
  const std::string data = POSBENCH_SOURCE_DIR "/results/data/", reference = data + "reference/report.json";
  for (const std::string& arguments :
       {"report " + reference, "report " + reference + " --by-split",
        "compare " + reference + " --between rope,alibi", std::string("board -t flip_flop,counting"),
        std::string("board --aspects counting --length 2x"), std::string("board -e rope"),
        std::string("show rope"), "reproduce --judge-only -o " + data + "claims/runs",
        std::string("reproduce --list")}) {
    CAPTURE(arguments);
    const Outcome outcome = posbench_command(directory, arguments + " --format latex");
    CHECK(outcome.code == 0);
    CHECK(outcome.out.find("\\begin{tabular}") != std::string::npos);
  }
}
