// Presets: names for specs with the patterns of published models.
#include "encodings/presets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "results/json/json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/temporary.h"

using namespace posbench;

TEST_CASE("every preset trains in smoke, and the report has its name and its spec") {
  const TemporaryDirectory directory;
  std::vector<std::string> names;
  for (const Preset& preset : presets()) names.push_back(preset.name);
  const Outcome run = posbench_command(
      directory,
      fmt::format("run --profile smoke -t flip_flop -e {} --set model.layers=4 -o r", fmt::join(names, ",")));
  INFO(run.error);
  REQUIRE(run.code == 0);
  const Json report = Json::parse(read_whole(directory / "r/report.json"));
  REQUIRE(report["experiments"].size() == presets().size());
  for (size_t n = 0; n < presets().size(); ++n) {
    CHECK(report["experiments"][n]["encoding"] == presets()[n].name);
    CHECK(report["experiments"][n]["status"] == "ok");
    CHECK(report["config"]["presets"][presets()[n].name] == presets()[n].spec);
  }
}

TEST_CASE("a preset is accepted by any command that takes an encoding") {
  const TemporaryDirectory directory;
  CHECK(posbench_command(directory, "run -t flip_flop -e ssmax:base=swan --show-config")
            .out.find("\"swan\": \"layers:") != std::string::npos);
  CHECK(posbench_command(directory, "check llama4 gpt_oss").code == 0);
}

TEST_CASE("list, show and completion know presets, and the names of encodings leave them out") {
  const TemporaryDirectory directory;
  const std::string listed = posbench_command(directory, "list encodings").out;
  const Json json = Json::parse(posbench_command(directory, "list encodings --json").out);
  CHECK(json["presets"].size() == presets().size());
  for (const Json& encoding : json["encodings"]) CHECK(find_preset(encoding["id"].get<std::string>()) == nullptr);
  const std::string completion = posbench_command(directory, "--complete run -e ''").out;
  for (const Preset& preset : presets()) {
    INFO(preset.name);
    CHECK(listed.find("\n  " + preset.name) != std::string::npos);
    CHECK(completion.find("\n" + preset.name + "\n") != std::string::npos);
    const Outcome shown = posbench_command(directory, "show " + preset.name);
    CHECK(shown.code == 0);
    CHECK(shown.out.starts_with(preset.name + " (preset)\n"));
    const bool has_pattern = preset.spec.find("layers:") != std::string::npos;
    CHECK((shown.out.find("\nEncodings of a model with 6 layers:\n") != std::string::npos) == has_pattern);
  }
  CHECK_THAT(
      posbench_command(directory, "show smollm3 --layers 8").out,
      ContainsSubstring("\n0-2     rope:base=2000000\n3       none\n4-6     rope:base=2000000\n7       none\n"));
  CHECK_THAT(posbench_command(directory, "show 'layers:of=(rope,none),window=(8,0)' --layers 2").out,
             ContainsSubstring("\n0       local:base=rope,window=8\n1       none\n"));
  const Outcome refused = posbench_command(directory, "show rope --layers 4");
  CHECK(refused.code == 2);
  CHECK(refused.error.find("all layers have 'rope'") != std::string::npos);
  CHECK(posbench_command(directory, "show lama4").error.find("did you mean 'llama4'?") != std::string::npos);
}

TEST_CASE("a configuration whose preset has another spec is refused") {
  const TemporaryDirectory directory;
  Json config = Json::parse(posbench_command(directory, "run -t flip_flop -e smollm3 --show-config").out);
  directory.write("same.json", config.dump());
  CHECK(posbench_command(directory, "run --config same.json --list-only").code == 0);
  config["presets"]["smollm3"] = "layers:of=(rope,none)";
  directory.write("other.json", config.dump());
  const Outcome outcome = posbench_command(directory, "run --config other.json --list-only");
  CHECK(outcome.code == 2);
  CHECK(outcome.error.find("'smollm3' is \"layers:of=(rope,none)\" there") != std::string::npos);
}
