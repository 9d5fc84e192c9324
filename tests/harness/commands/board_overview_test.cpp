// `posbench board -e NAME`: one encoding or recurrent model on all tasks, and a few side by side.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "results/json/json.h"
#include "results/presentation/accuracy_text.h"
#include "tests/catch.h"
#include "tests/harness/command.h"

using namespace posbench;

TEST_CASE("the board of one encoding has one row for each task, best first, and fits a terminal") {
  const TemporaryDirectory directory;
  const Outcome outcome = posbench_command(directory, "board -e cope");
  REQUIRE(outcome.code == 0);
  const Json json = parse_json(posbench_command(directory, "board -e cope --format json").out, "board");
  const size_t tasks = json.at("tasks").size();
  const auto counted =
      std::ranges::count_if(json.at("tasks"), [](const Json& t) { return t.at("mark").is_null(); });
  CHECK(outcome.out.starts_with(fmt::format("cope on {} tasks, out of distribution: tier 1 on ", counted)));
  CHECK(static_cast<size_t>(std::count(outcome.out.begin(), outcome.out.end(), '\n')) < tasks + 50);
  std::map<std::string, std::string> rows;  // of each task
  std::vector<double> means;                // of the tasks in a tier
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string task;
    words >> task;
    const Json& all = json.at("tasks");
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const Json& t) { return t.at("task").get<std::string>() == task; });
    if (same == all.end()) continue;
    CHECK(line.size() <= 80);
    CHECK(rows.emplace(task, line).second);
    const Json& row = same->at("rows").at(0);
    if (!row.at("tier").is_null()) means.push_back(row.at("mean").get<double>());
    if (same->at("best").is_null()) continue;
    const bool has_none = line.ends_with("0.00");  // then the best is "-", since no encoding is any better
    CHECK((line.find(same->at("best").get<std::string>()) != std::string::npos) == !has_none);
  }
  CHECK(rows.size() == tasks);
  CHECK(means.size() >= 7);
  CHECK(std::ranges::is_sorted(means, std::greater<>()));
  const Outcome whole = posbench_command(directory, "board -e cope --by-task");
  CHECK(whole.out.find("\nlast_x_retrieval, out of distribution\n") != std::string::npos);
  CHECK(whole.out.find("of 69 encodings learn it in distribution") != std::string::npos);
}

TEST_CASE("two encodings on several tasks are shown side by side, as the board has them") {
  const TemporaryDirectory directory;
  const Outcome shown = posbench_command(directory, "board -e rope,alibi");
  const Json board = Json::parse(posbench_command(directory, "board -e rope,alibi --format json").out);
  int tasks = 0, differ = 0, learned_by_both = 0, rope_is_higher = 0;
  for (const Json& task : board.at("tasks")) {
    std::map<std::string, std::string> cells;
    std::map<std::string, double> means;
    std::set<int> tiers;
    for (const Json& row : task.at("rows")) {
      const bool learned = row.at("standing") != "not learned";
      if (learned) means[row.at("encoding")] = row.at("mean").get<double>();
      cells[row.at("encoding")] = learned ? accuracy_text(row.at("mean").get<double>()) : "not learned";
      if (!row.at("tier").is_null()) tiers.insert(row.at("tier").get<int>());
    }
    const std::string name = task.at("task");
    const size_t line = shown.out.find("\n" + name + " ");
    REQUIRE(line != std::string::npos);
    std::istringstream words(shown.out.substr(line + 1 + name.size(), shown.out.find('\n', line + 1) - line));
    const std::string expected = cells["alibi"] + " " + cells["rope"];
    std::string found;
    for (std::string word; found.size() < expected.size() && words >> word;)
      found += (found.empty() ? "" : " ") + word;
    CHECK(found == expected);
    if (!task.at("mark").is_null()) continue;
    ++tasks;
    differ += tiers.size() > 1 ? 1 : 0;
    learned_by_both += means.size() == 2 ? 1 : 0;
    rope_is_higher += means.size() == 2 && means["rope"] - means["alibi"] >= 0.02 ? 1 : 0;
  }
  std::string text = shown.out.substr(0, shown.out.find("\n\n"));
  std::ranges::replace(text, '\n', ' ');
  CHECK(text.starts_with(fmt::format("Tasks learned, of {}: alibi ", tasks)));
  CHECK(text.find(fmt::format(", both {}. Tiers, which need 5 seeds, tell them apart on {}. On the {}, the mean "
                              "(out of distribution) is the highest by 0.02 or more for alibi on ",
                              learned_by_both, differ, learned_by_both)) != std::string::npos);
  CHECK(tasks > 60);
  CHECK(text.ends_with(fmt::format(", for rope on {}.", rope_is_higher)));
  CHECK(
      posbench_command(directory, "board -e rope,alibi --by-task").out.find("\ncounting, out of distribution\n") !=
      std::string::npos);
}

TEST_CASE("a recurrent model has one row for each task, alone and beside an encoding") {
  const TemporaryDirectory directory;
  const Json json = Json::parse(posbench_command(directory, "board -e lstm --format json").out);
  const auto learned = [](const Json& task) { return task.at("recurrent").at(0).at("standing") == "recurrent"; };
  const auto counted =
      std::ranges::count_if(json.at("tasks"), [](const Json& t) { return t.at("mark").is_null(); });
  const auto count =
      std::ranges::count_if(json.at("tasks"), [&](const Json& t) { return t.at("mark").is_null() && learned(t); });
  const std::string alone = posbench_command(directory, "board -e lstm").out;
  CHECK(count > 5);
  CHECK(alone.starts_with(fmt::format("lstm on {} tasks, out of distribution: learned on {}, not learned on {}.",
                                      counted, count, counted - count)));
  CHECK(alone.find("\nlstm, gated_delta: models with a recurrent layer in place of attention") !=
        std::string::npos);
  for (const char* other : {"tier", "Interquartile mean"})
    CHECK(alone.find(fmt::format("\n{}", other)) == std::string::npos);
  const std::string beside = posbench_command(directory, "board -e lstm,rope").out;
  for (const Json& task : json.at("tasks")) {
    const std::string start = fmt::format("\n{} ", task.at("task").get<std::string>());
    const auto line = [&](const std::string& text) {
      const size_t begin = text.find(start) + 1;
      return text.substr(begin, text.find('\n', begin) - begin);
    };
    const Json& row = task.at("recurrent").at(0);
    const std::string mean = accuracy_text(row.at("mean").get<double>());
    if (learned(task) && task.at("mark").is_null()) CHECK(line(alone).find(" " + mean + " ") != std::string::npos);
    CHECK(line(beside).find(learned(task) ? " " + mean : " not learned") != std::string::npos);
  }
}
