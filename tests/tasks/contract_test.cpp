// Tests that every task of the registry keeps the contract of its interface.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/check/oracles.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

namespace {

constexpr int kSamples = 300;  // of each split; `posbench check` draws more

std::vector<Layout> layouts(const TaskInfo& info) {
  if (info.causal_only) return {Layout::teacher_forced};
  return {Layout::teacher_forced, Layout::slots};
}

}  // namespace

TEST_CASE("every task has an oracle row") {
  for (const std::string& name : tasks().names()) {
    INFO("add to harness/check/oracles/FAMILY.cpp:   const RegisterOracle "
         << name << "(\"" << name << "\", [](const Example& e) { return ...; });");
    CHECK(oracles().count(name) == 1);
  }
}

TEST_CASE("every task has a definition and a requirement in sentences") {
  for (const std::string& name : tasks().names()) {
    INFO(name);
    const TaskInfo& info = tasks().find(name).info;
    CHECK(info.definition.ends_with('.'));
    CHECK(info.requirement.ends_with('.'));
  }
}

TEST_CASE("a registration without a name, a family, a definition, a source or splits is refused in one line") {
  const TaskInfo info{.name = "mine",
                      .family = "test",
                      .definition = "Answers 0.",
                      .source = "none",
                      .splits = {{"in_distribution", {}, ""}, {"ood_length", {{"length", "2x"}}, ""}}};
  const auto changed = [&](const auto& change) {
    TaskInfo other = info;
    change(other);
    return other;
  };
  CHECK_NOTHROW(check_info(info));
  CHECK_THROWS_WITH(check_info(changed([](TaskInfo& i) { i.name.clear(); })),
                    "the registration of a task has no name; its definition is 'Answers 0.'");
  CHECK_THROWS_WITH(check_info(changed([](TaskInfo& i) { i.family.clear(); })),
                    "the registration of task 'mine' has no family; add .family to it");
  CHECK_THROWS_WITH(check_info(changed([](TaskInfo& i) { i.definition.clear(); })),
                    "the registration of task 'mine' has no definition; add .definition to it");
  CHECK_THROWS_WITH(check_info(changed([](TaskInfo& i) { i.source.clear(); })),
                    "the registration of task 'mine' has no source; add .source to it");
  CHECK_THROWS_WITH(check_info(changed([](TaskInfo& i) { i.splits.clear(); })),
                    "the registration of task 'mine' has no splits; add .splits to it");
  CHECK_THROWS_WITH(
      check_info(changed([](TaskInfo& i) { std::swap(i.splits[0], i.splits[1]); })),
      "the first split of task 'mine' is 'ood_length' and changes options; expected in_distribution, which changes "
      "no option");
  CHECK_THROWS_WITH(check_info(changed([](TaskInfo& i) { i.splits[0].name = "test"; })),
                    "the first split of task 'mine' is 'test'; expected in_distribution, which changes no option");
}

// Attention over equal tokens returns their common value, whatever its weights. An encoding that acts on scores
// alone has the same input at each position of a first run of equal tokens, so it cannot give an answer that
// depends on the position there.
TEST_CASE("in a first run of equal tokens the answer does not depend on the position") {
  for (const std::string& name : tasks().names()) {
    const TaskEntry& entry = tasks().find(name);
    const std::unique_ptr<Task> task = make_task(Spec{name, {}}, entry.info.splits[0], Layout::teacher_forced);
    std::map<int, std::map<int, std::set<int>>> answers;  // by the token of the run and the position
    for (int n = 0; n < 10 * kSamples; ++n) {
      Rng rng = make_rng(0, "first run", n);
      const Example e = task->sample(task->lengths().draw(rng), rng);
      for (const int t : e.scored) {
        const auto end = e.tokens.begin() + t + 1;
        if (std::all_of(e.tokens.begin(), end, [&](int token) { return token == e.tokens[0]; }))
          answers[e.tokens[0]][t].insert(e.targets[t]);
      }
    }
    INFO(name);
    for (const auto& [token, by_position] : answers) {
      INFO("token " << task->token_text(token));
      for (const auto& [t, of_position] : by_position) {
        if (of_position.size() == 1) CHECK(by_position.begin()->second.count(*of_position.begin()) == 1);
      }
    }
  }
}

TEST_CASE("every task keeps the contract in every split and layout") {
  for (const std::string& name : tasks().names()) {
    const TaskEntry& entry = tasks().find(name);
    const auto oracle = oracles().find(name);
    for (const TaskInfo::Split& split : entry.info.splits) {
      for (const Layout layout : layouts(entry.info)) {
        DYNAMIC_SECTION(name << ", " << split.name << ", "
                             << (layout == Layout::slots ? "slots" : "teacher forced")) {
          const std::unique_ptr<Task> task = make_task(Spec{name, {}}, split, layout);
          // Every split has the vocabulary and the number of coordinates of the first one.
          const std::unique_ptr<Task> reference = make_task(Spec{name, {}}, entry.info.splits[0], layout);
          const int vocabulary = reference->vocabulary();
          Rng first = make_rng(0, "contract");
          const size_t coordinates = reference->sample(reference->lengths().draw(first), first).coordinates.size();
          CHECK(task->vocabulary() == vocabulary);
          CHECK(task->chance_level() > 0);
          CHECK(task->chance_level() < 1);
          for (int n = 0; n < kSamples; ++n) {
            Rng rng = make_rng(0, "contract", n), again = rng;
            const Example e = task->sample(task->lengths().draw(rng), rng);
            const Example same = task->sample(task->lengths().draw(again), again);
            REQUIRE((e.tokens == same.tokens && e.targets == same.targets));

            REQUIRE(e.targets.size() == e.tokens.size());
            REQUIRE(e.segments.size() == e.tokens.size());
            REQUIRE((e.digit_positions.empty() || e.digit_positions.size() == e.tokens.size()));
            REQUIRE(e.coordinates.size() == coordinates);
            for (const std::vector<int>& values : e.coordinates) {
              REQUIRE(values.size() == e.tokens.size());
              REQUIRE(std::ranges::min(values) >= 0);
            }
            for (const int token : e.tokens) REQUIRE((token >= 0 && token < vocabulary));
            for (const int target : e.targets)
              REQUIRE((target == kIgnore || (target >= 0 && target < vocabulary)));
            for (size_t t = 1; t < e.segments.size(); ++t) REQUIRE(e.segments[t] >= e.segments[t - 1]);

            REQUIRE_FALSE(e.scored.empty());
            REQUIRE(std::set<int>(e.scored.begin(), e.scored.end()).size() == e.scored.size());
            for (const int t : e.scored) REQUIRE(e.targets.at(t) != kIgnore);
            const std::set<int> candidates(e.candidates.begin(), e.candidates.end());
            for (const int t : e.scored) REQUIRE((candidates.empty() || candidates.count(e.targets[t]) == 1));
            REQUIRE(e.distances.size() == (entry.info.distance_unit.empty() ? 0 : e.scored.size()));

            REQUIRE((e.evidence.empty() || e.evidence.size() == e.scored.size()));
            for (size_t i = 0; i < e.evidence.size(); ++i) {
              REQUIRE(e.evidence[i] <= e.scored[i]);
              REQUIRE(e.tokens.at(e.evidence[i]) == e.targets[e.scored[i]]);
              if (entry.info.distance_unit == "tokens") REQUIRE(e.distances[i] == e.scored[i] - e.evidence[i]);
            }
            if (oracle == oracles().end()) continue;
            REQUIRE(scored_answers(e) == oracle->second(e));
            if (oracle->second.has_distances()) REQUIRE(e.distances == oracle->second.distances(e));
          }
        }
      }
    }
  }
}

TEST_CASE("tasks whose answers are tokens of the question tell which ones") {
  for (const char* spec : {"flip_flop", "induction_heads", "last_x_retrieval", "last_x_retrieval:which=2", "mqar",
                           "mqmtar", "selective_copy", "variable_tracking"}) {
    CAPTURE(spec);
    const std::unique_ptr<Task> task = make(spec);
    Rng rng = make_rng(0, "evidence");
    CHECK_FALSE(task->sample(task->lengths().draw(rng), rng).evidence.empty());
  }
}

TEST_CASE(
    "a task of a family is in its folder and names the aspects that it tests; other files are directly in tasks/") {
  const std::filesystem::path folder = std::filesystem::path(POSBENCH_SOURCE_DIR) / "tasks";
  const std::regex name_line(R"re(\.name = "([^"]+)",)re");
  std::map<std::string, std::filesystem::path> files;  // by the name of the task
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream stream(entry.path());
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    std::smatch name;
    const bool is_registered = text.find("RegisterTask<") != std::string::npos;
    if (is_registered && std::regex_search(text, name, name_line)) files[name[1]] = entry.path();
    const std::filesystem::path of_file = entry.path().parent_path();
    INFO(entry.path() << ": a file of a family registers a task; shared code is in tasks/parts");
    CHECK((is_registered || of_file == folder || of_file == folder / "parts"));
  }
  for (const std::string& name : tasks().names()) {
    CAPTURE(name);
    REQUIRE(files.count(name) == 1);
    CHECK(files[name].stem() == name);
    const std::filesystem::path of_file = files[name].parent_path();
    const std::string& family = tasks().find(name).info.family;
    CHECK((of_file == folder || of_file.filename() == family.substr(0, family.find('/'))));
    const bool needs_aspects = of_file != folder && family != "language_modeling";
    CHECK((!needs_aspects || !tasks().find(name).info.aspects.empty()));
  }
}
