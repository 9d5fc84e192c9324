// Answers of a model at multiples of the trained length: `export --split length=2x` and `score`.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "results/json/json.h"
#include "results/reports/report_json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/temporary.h"

using namespace posbench;

TEST_CASE("answers at multiples of the trained length give the length grids of the run") {
  const TemporaryDirectory directory;
  succeeded(directory,
            "run --profile smoke -t flip_flop -e alibi --set evaluation.grid=128 --set "
            "evaluation.grid_rules=2 --save-models -q -o run");
  const Report run = read_report(directory / "run/report.json");
  const std::vector<GridResult>& expected = run.experiments.at(0).grids;
  REQUIRE(expected.size() >= 2);
  const auto answer = [&](const std::string& split, int count) {
    const Outcome done = posbench_command(
        directory, fmt::format("export run flip_flop alibi --split {0} -n {1} -o {0}.safetensors", split, count));
    CAPTURE(done.error);
    REQUIRE(done.code == 0);
    return fmt::format(" {}.safetensors", split);
  };
  std::string splits, multiples;
  for (const SplitResult& split : run.experiments[0].splits)
    splits += answer(split.name, static_cast<int>(split.sequences));
  for (const GridResult& grid : expected)
    for (const GridPoint& point : grid.points)
      multiples += answer(fmt::format("{}={}x", grid.option, point.multiple), 128);
  succeeded(directory, "score" + splits + multiples + " -o scored.json");
  CHECK(read_report(directory / "scored.json").experiments.at(0).grids == expected);
  succeeded(directory, "score" + splits + " -o without.json");
  CHECK(read_report(directory / "without.json").experiments.at(0).grids.empty());
  const auto refused = [&](const std::string& files) {
    const Outcome done = posbench_command(directory, "score" + splits + files + " -o x.json");
    CHECK(done.code == 2);
    return done.error;
  };
  CHECK_THAT(refused(" length=1x.safetensors length=2x.safetensors"), ContainsSubstring("'length=1.5x'"));
  CHECK_THAT(refused(" length=1x.safetensors"), ContainsSubstring("model.grid_end"));
  CHECK_THAT(refused(multiples + " length=1x.safetensors"), ContainsSubstring("occur twice"));
  answer("length=1x", 40);
  CHECK_THAT(refused(" length=1x.safetensors"), ContainsSubstring("40 samples do not decide"));
  // A model that states why it has no answers to larger multiples ends its grid there.
  answer("length=1x", 128);
  Json about = read_json(directory / "length=1x.safetensors.manifest.json");
  about["model"]["grid_end"] = {{"length", "its table has 64 rows"}};
  about.erase("crc32");
  write_file(directory / "length=1x.safetensors.manifest.json", to_file_json(about));
  succeeded(directory, "score" + splits + " length=1x.safetensors -o ended.json");
  const GridResult ended = read_report(directory / "ended.json").experiments.at(0).grids.at(0);
  CHECK(ended.points.size() == 1);
  CHECK((ended.end == GridEnd::encoding && ended.reason == "its table has 64 rows"));
  const Outcome unknown = posbench_command(directory, "export flip_flop --split length=7x -n 1");
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.error, ContainsSubstring("its multiples: length=1x, length=1.5x"));
}
