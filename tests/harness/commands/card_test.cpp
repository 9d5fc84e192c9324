// `posbench card`.
#include <algorithm>
#include <cstddef>
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

TEST_CASE("a card has the equation, a score for each aspect, every task of the board and the claims") {
  const TemporaryDirectory directory;
  const Outcome outcome = posbench_command(directory, "card rotary");
  REQUIRE(outcome.code == 0);
  CHECK(outcome.out.starts_with("rope (encoding, rotary)\n\n    score_h(i, j)"));
  CHECK(outcome.out.find("Used in: RoFormer, GPT-J") != std::string::npos);
  CHECK(outcome.out.find(" tasks, out of distribution: ") != std::string::npos);
  CHECK(outcome.out.find("rope-selective-copy-fails") != std::string::npos);
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.size() <= 100);
  }
  const Json card = Json::parse(posbench_command(directory, "card rope --format json").out);
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
  CHECK(posbench_command(directory, "card rope --format markdown").out.starts_with("# rope (encoding, rotary)\n"));
}

TEST_CASE("a card describes an encoding of the user's report, with options or without a registration") {
  const TemporaryDirectory directory;
  REQUIRE(posbench_command(directory,
                           "run -q -t flip_flop -e cope:positions=4 -s 2 --set training.steps=1 "
                           "--set evaluation.sequences=16 -o run")
              .code == 0);
  const std::string file = (directory / "run/report.json").string();
  Json report = read_json(file);
  report["experiments"][1]["encoding"] = "mine";
  report["config"]["encodings"] = {"cope:positions=4", "mine"};
  write_file(file, report.dump());
  CHECK(posbench_command(directory, "card mine run/report.json").error.find("--allow-different-budget") !=
        std::string::npos);
  const Outcome mine = posbench_command(directory, "card mine run/report.json --allow-different-budget");
  CHECK(mine.out.starts_with("mine (encoding, of your report)\n\nIn short: it learns 0 of 1 tasks"));
  const Outcome cope =
      posbench_command(directory, "card cope:positions=4 run/report.json --allow-different-budget");
  CHECK(cope.out.starts_with("cope:positions=4 (encoding, contextual)\n\n    score(i, j)"));
  CHECK(refusal(directory, "card ours run/report.json --allow-different-budget").find("unknown encoding 'ours'") !=
        std::string::npos);
}

TEST_CASE("a card refuses names that are no encoding and formats that it does not have") {
  const TemporaryDirectory directory;
  const Outcome unknown = posbench_command(directory, "card ropes");
  CHECK(unknown.code == 2);
  CHECK(unknown.error.find("unknown encoding 'ropes'; did you mean 'rope'?") != std::string::npos);
  CHECK(refusal(directory, "card LSTM")
            .find("'lstm' is a layer in place of attention (model.block=lstm), not an encoding") !=
        std::string::npos);
  const Outcome options = posbench_command(directory, "card rope:theta=500");
  CHECK(options.code == 2);
  CHECK(options.error.find("'rope:theta=500' has options, but the board has default options only") !=
        std::string::npos);
  const Outcome csv = posbench_command(directory, "card rope --format csv");
  CHECK(csv.code == 2);
  CHECK(csv.error.find("a card needs --format console, markdown, latex, json or html") != std::string::npos);
}

TEST_CASE("a card is a page too, and states that the board has no effective lengths") {
  const TemporaryDirectory directory;
  REQUIRE(posbench_command(directory, "card rope -o rope.html").code == 0);
  const std::string page = read_whole(directory / "rope.html");
  CHECK(page.find("<title>rope (encoding, rotary)</title>") != std::string::npos);
  const bool has_lengths =
      !Json::parse(posbench_command(directory, "card rope --format json").out)["effective_lengths"].empty();
  CHECK((page.find("Effective lengths: none") == std::string::npos) == has_lengths);
}

TEST_CASE("every command with tables writes them for LaTeX") {
  const TemporaryDirectory directory;
  const std::string data = POSBENCH_SOURCE_DIR "/results/data/", reference = data + "reference/report.json";
  const std::string arguments =
      GENERATE_COPY("report " + reference, "report " + reference + " --by-split",
                    "compare " + reference + " --between rope,alibi", "board -t flip_flop,counting",
                    "board --aspects counting --length 2x", "board -e rope", "card rope",
                    "reproduce --judge-only -o " + data + "claims/runs", "reproduce --list");
  INFO(arguments);
  const Outcome outcome = posbench_command(directory, arguments + " --format latex");
  INFO(outcome.error);
  REQUIRE(outcome.code == 0);
  std::istringstream lines(outcome.out);
  std::ptrdiff_t columns = 0, tables = 0, rows = 0;
  for (std::string line, before; std::getline(lines, line); before = line) {
    if (line.starts_with("\\begin{tabular}")) {
      CHECK(before == "% needs \\usepackage{booktabs}");
      REQUIRE(columns == 0);
      ++tables;
      std::getline(lines, line);
      CHECK(line == "\\toprule");
      std::getline(lines, line);
      columns = std::count(line.begin(), line.end(), '&') - std::ptrdiff_t(line.find("\\&") != line.npos) + 1;
    } else if (line == "\\end{tabular}") {
      CHECK(before == "\\bottomrule");
      columns = 0;
    } else if (columns > 0 && !line.ends_with("rule")) {
      ++rows;
      std::ptrdiff_t cells = 1;
      for (size_t at = 0; at < line.size(); ++at) cells += line[at] == '&' && line[at - 1] != '\\';
      CHECK(cells == columns);
      CHECK(line.ends_with(" \\\\"));
    }
  }
  CHECK(columns == 0);
  CHECK(tables > 0);
  CHECK(rows > 0);
}
