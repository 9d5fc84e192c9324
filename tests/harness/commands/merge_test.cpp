// `posbench merge` joins shards, and refuses incomplete or different ones.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "results/json/json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/harness/report_json.h"
#include "tests/temporary.h"

using namespace posbench;
namespace fs = std::filesystem;

namespace {

/// Runs a shard of the suite, or of a variant of it.
void run_shard(const TemporaryDirectory& directory, const std::string& shard, const std::string& output,
               const std::string& more = "") {
  succeeded(directory,
            "run --profile smoke -t parity_check,even_pairs -e none,rope,alibi -q --save-models --shard " + shard +
                " -o " + output + more);
}

}  // namespace

TEST_CASE("merged shards have the report and the models of a single run") {
  const TemporaryDirectory directory;
  run_shard(directory, "1/1", "whole");
  for (const std::string k : {"1", "2", "3", "4"}) run_shard(directory, k + "/4", "shard" + k);
  const Outcome merged = succeeded(directory, "merge shard3 shard1 shard4 shard2 -o merged");
  CHECK(without_context(directory / "merged/report.json").dump() ==
        without_context(directory / "whole/report.json").dump());
  CHECK(read_json(directory / "merged/report.json").at("context").at("shards").size() == 4);
  int models = 0;
  for (const auto& entry : fs::directory_iterator(directory / "whole/models")) {
    ++models;
    CHECK(read_whole(directory / ("merged/models/" + entry.path().filename().string())) ==
          read_whole(entry.path()));
  }
  CHECK(models == 6);
  CHECK(read_json(directory / "shard2/report.json").at("context").at("shard") == "2/4");

  CHECK(refusal(directory, "merge whole -o merged") ==
        "posbench: merged exists; add --force to replace it, or use another -o\n");
  succeeded(directory, "merge whole -o merged --force");
  CHECK(without_context(directory / "merged/report.json") == without_context(directory / "whole/report.json"));
}

TEST_CASE("models and losses of shards that are damaged or missing are refused, and deleted losses are named") {
  const TemporaryDirectory directory;
  for (const std::string k : {"1", "2"}) run_shard(directory, k + "/2", k, " --trace-loss");
  const auto refused = [&](const std::string& file, const std::string& text) {
    const std::string before = read_whole(directory / file);
    directory.write(file, text);
    const std::string message = refusal(directory, "merge 1 2 -o merged");
    CHECK_FALSE(fs::exists(directory / "merged"));
    directory.write(file, before);
    return message;
  };
  const std::string model = "1/models/parity_check-none-0.safetensors",
                    losses = "1/losses/parity_check-none-0.csv";
  std::string changed = read_whole(directory / model);
  changed.back() ^= 1;
  CHECK(refused(model, changed).starts_with("posbench: " + model + ": __metadata__.crc32 is \""));
  CHECK(refused(model, read_whole(directory / "2/models/parity_check-rope-0.safetensors")) ==
        "posbench: " + model +
            ": __metadata__.encoding is \"rope\", expected \"none\": it is the model of another experiment\n");
  CHECK(refused(losses, "learning_rate,step,loss\n").starts_with("posbench: " + losses + ": its checksum is "));
  fs::remove(directory / losses);
  const Outcome merged = succeeded(directory, "merge 1 2 -o merged");
  CHECK(contains(merged.error, "note: the losses of 1 experiment are missing in the shards\n"));
  CHECK(std::distance(fs::directory_iterator(directory / "merged/losses"), {}) == 5);
  fs::remove(directory / model);
  CHECK(refusal(directory, "merge 1 2 -o merged --force") ==
        "posbench: " + model + " is missing; copy the whole run directory\n");
  CHECK(fs::exists(directory / "merged/report.json"));
}

TEST_CASE("shards of different suites and missing shards are refused with a message that names them") {
  const TemporaryDirectory directory;
  for (const std::string k : {"1", "2", "3"}) run_shard(directory, k + "/3", k);
  run_shard(directory, "2/3", "other", " --set training.steps=3");
  run_shard(directory, "1/2", "half");
  const auto refused = [&](const std::string& runs) {
    const std::string message = refusal(directory, "merge " + runs + " -o merged");
    CHECK_FALSE(fs::exists(directory / "merged"));
    return message;
  };
  CHECK(refused("1 3") ==
        "posbench: 1 of 3 shards are missing: 2/3; run them with --shard and add their directories\n");
  CHECK(refused("1 2 3 2") == "posbench: 2 and 2 are both shard 2/3; name one of them\n");
  CHECK(
      refused("1 other 3") ==
      "posbench: 1 and other are of different suites: training.steps was 20 and is now 3; merge the shards of one suite\n");
  CHECK(refused("1 half") ==
        "posbench: 1 is shard 1/3 with models, and half is shard 1/2 with models; merge the shards of one run\n");
  CHECK(refused("1/report.json") == "posbench: 1/report.json is a file, expected the directory of a run\n");
  CHECK(refused("1 nowhere 3") == "posbench: nowhere: there is no such directory; give a run directory\n");
  CHECK(refusal(directory, "merge 1 2 3 -o 1/report.json") ==
        "posbench: 1/report.json is a file, expected a directory to write; choose another -o\n");
  CHECK(refusal(directory, "merge 1 2 3 -o 1 --force") ==
        "posbench: 1 is one of the runs to merge; use another -o\n");

  const std::string lines = read_whole(directory / "2/experiments.jsonl");
  fs::resize_file(directory / "2/experiments.jsonl", lines.size() - 3);
  const std::string second = refused("1 2 3");
  CHECK(second.starts_with("posbench: 2: 1 of 2 experiments are unfinished: "));
  CHECK(second.ends_with(" with seed 0; finish them with 'posbench run --resume'\n"));
  directory.write("2/experiments.jsonl", lines);
  Json manifest = read_json(directory / "3/manifest.json");
  manifest["context"]["commit"] = "another";
  directory.write("3/manifest.json", manifest.dump());
  directory.write("3/experiments.jsonl", "");  // its lines would be of another build
  CHECK(refused("1 2 3").starts_with(
      "posbench: 3: made by another version of posbench: commit was \"another\" and "));
}
