// The report that the repository keeps: this program must still find the same numbers. It may find more than the
// report has.
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "results/reports/experiment_json.h"
#include "results/reports/report_json.h"
#include "results/types/report.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

ExperimentResult find(const Report& report, const std::string& task, const std::string& encoding,
                      std::uint64_t seed) {
  for (const ExperimentResult& experiment : report.experiments) {
    if (experiment.id == ExperimentId{task, encoding, seed}) return experiment;
  }
  throw std::out_of_range("no experiment of " + encoding + " on " + task);
}

/// Returns the members of `made` that `kept` has too.
Json part(const Json& made, const Json& kept) {
  Json result = made;
  if (made.is_object() && kept.is_object()) {
    result = Json::object();
    for (const auto& [key, value] : kept.items()) {
      if (made.contains(key)) result[key] = part(made.at(key), value);
    }
  } else if (made.is_array() && kept.is_array() && made.size() == kept.size()) {
    for (size_t n = 0; n < made.size(); ++n) result[n] = part(made[n], kept[n]);
  }
  return result;
}

}  // namespace

TEST_CASE("repeated experiments of the reference report give the same numbers", "[one_thread]") {
  const auto [task, encoding, seed] =
      GENERATE(table<std::string, std::string, std::uint64_t>({{"even_pairs", "cope", 8},
                                                               {"last_x_retrieval", "rope", 9},
                                                               {"reverse_string:length=1..10", "shaw_k", 10}}));
  CAPTURE(task, encoding, seed);
  const std::filesystem::path reference =
      std::filesystem::path(POSBENCH_SOURCE_DIR) / "results/data/reference/report.json";
  const TemporaryDirectory directory;
  const Outcome again = succeeded(directory, "run --config " + reference.string() + " -t " + task + " -e " +
                                                 encoding + " -s " + std::to_string(seed) + ", -q -o again");
  const Report kept = read_report(reference), made = read_report(directory / "again/report.json");
  const ExperimentResult expected = find(kept, task, encoding, seed);
  CHECK(!expected.splits.at(0).by_length.empty());
  CHECK(part(to_json(find(made, task, encoding, seed)), to_json(expected)) == to_json(expected));
}
