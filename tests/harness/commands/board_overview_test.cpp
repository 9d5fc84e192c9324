// `posbench board -e NAME`: one encoding or recurrent model on all tasks, and a few side by side.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "results/json/json.h"
#include "results/presentation/accuracy_text.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/temporary.h"

using namespace posbench;

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

TEST_CASE("the board of one or two encodings, or of a recurrent model, has a line for each task with its means") {
  const TemporaryDirectory directory;
  const std::string names = GENERATE("cope", "rope,alibi", "lstm", "lstm,rope");
  CAPTURE(names);
  const Json board = Json::parse(posbench_command(directory, "board -e " + names + " --format json").out);
  const Outcome shown = posbench_command(directory, "board -e " + names);
  REQUIRE(shown.code == 0);
  std::map<std::string, std::string> lines = lines_of_tasks(shown.out, board);
  CHECK(lines.size() == board.at("tasks").size());
  for (const Json& task : board.at("tasks")) {
    for (const char* kind : {"rows", "recurrent"}) {
      for (const Json& row : task.at(kind)) {
        const bool learned = row.at("standing").get<std::string>().find("not learned") == std::string::npos;
        if (names == "lstm" && !(learned && task.at("mark").is_null())) continue;  // these have no mean
        const std::string text = learned ? accuracy_text(row.at("mean").get<double>()) : "not learned";
        CHECK(lines[task.at("task")].find(" " + text) != std::string::npos);
      }
    }
  }
}

TEST_CASE(
    "the board of two encodings counts the tasks that both have learned, and those on which tiers tell them apart") {
  const TemporaryDirectory directory;
  const Json board = Json::parse(posbench_command(directory, "board -e rope,alibi --format json").out);
  int tasks = 0, differ = 0, learned_by_both = 0, rope_is_higher = 0;
  for (const Json& task : board.at("tasks")) {
    if (!task.at("mark").is_null()) continue;
    ++tasks;
    std::map<std::string, double> means;
    std::set<int> tiers;
    for (const Json& row : task.at("rows")) {
      if (row.at("standing") != "not learned") means[row.at("encoding")] = row.at("mean").get<double>();
      if (!row.at("tier").is_null()) tiers.insert(row.at("tier").get<int>());
    }
    differ += tiers.size() > 1 ? 1 : 0;
    learned_by_both += means.size() == 2 ? 1 : 0;
    rope_is_higher += means.size() == 2 && means["rope"] - means["alibi"] >= 0.02 ? 1 : 0;
  }
  std::string text = posbench_command(directory, "board -e rope,alibi").out;
  text.resize(text.find("\n\n"));
  std::ranges::replace(text, '\n', ' ');
  CHECK(text.starts_with(fmt::format("Tasks learned, of {}: alibi ", tasks)));
  CHECK(text.find(fmt::format(", both {}. Tiers, which need 5 seeds, tell them apart on {}. On the {}, the mean ",
                              learned_by_both, differ, learned_by_both)) != std::string::npos);
  CHECK(text.ends_with(fmt::format(", for rope on {}.", rope_is_higher)));
  CHECK(posbench_command(directory, "board -e cope --by-task").out.find("\nflip_flop, out of distribution\n") !=
        std::string::npos);
}
