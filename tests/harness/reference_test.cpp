// The report that the repository keeps, without its counts by length and distance: this program must still find
// the same numbers.
#include <nlohmann/json.hpp>

#include "results/json/json.h"
#include "results/types/report.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/harness/temporary.h"
#include "results/reports/report_json.h"

using namespace posbench;

namespace {

Json find(const Json& report, const std::string& task, const std::string& encoding, int seed) {
  for (Json experiment : report["experiments"]) {
    if (experiment["task"] != task || experiment["encoding"] != encoding || experiment["seed"] != seed) continue;
    for (Json& split : experiment["splits"]) split["by_length"] = split["by_distance"] = Json::array();
    return experiment;
  }
  throw std::out_of_range("no experiment of " + encoding + " on " + task);
}

}  // namespace

TEST_CASE("repeated experiments of the reference report give the same numbers") {
  const auto [task, encoding, seed] = GENERATE(table<std::string, std::string, int>(
      {{"even_pairs", "cope", 1}, {"last_x_retrieval", "rope", 0}, {"reverse_string", "shaw_k", 2}}));
  CAPTURE(task, encoding, seed);
  const std::filesystem::path reference =
      std::filesystem::path(POSBENCH_SOURCE_DIR) / "results/reference/report.json";
  const TemporaryDirectory directory;
  const Outcome again =
      posbench_command(directory, "run --config " + reference.string() + " -t " + task + " -e " + encoding + " -s " +
                                      std::to_string(seed) + ", -q -o again");
  REQUIRE(again.code == 0);
  const Json kept = read_json(reference), made = read_json(directory / "again/report.json");
  CHECK(find(made, task, encoding, seed) == find(kept, task, encoding, seed));
}
