// `posbench board -e NAME`: one encoding or other model on all tasks, and a few side by side.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
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
