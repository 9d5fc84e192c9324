#include "harness/runs/run_directory.h"

#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "harness/runs/loss_trace.h"
#include "harness/runs/run_record.h"
#include "results/json/checksum.h"
#include "results/reports/report_json.h"
#include "tests/catch.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

const Json kConfig{{"training", {{"steps", 3}}}};
const std::vector<ExperimentId> kIds{{"parity_check", "none", 0}, {"parity_check", "rope", 0}};

ExperimentResult result(const ExperimentId& id) {
  ExperimentResult r{.id = id};
  r.parameters = 10;
  r.steps = 3;
  r.final_loss = 0.5;
  r.splits = {{.name = "in_distribution",
               .sequences = 4,
               .token = {3, 4},
               .sequence = {3, 4},
               .by_length = {{7, {3, 4}, {3, 4}}}}};
  return r;
}

const std::vector<TaskBaseline> kBaselines{
    {"parity_check", 1, {{"in_distribution", SplitKind::in_distribution, 0.5, {{"constant", 0.5}}}}}};

/// Returns a line as older versions have written it.
std::string without_checksum(const std::string& line) { return line.substr(0, line.find(",\"crc32\"")) + "}\n"; }

Manifest manifest(const Json& config = kConfig) { return {.config = config, .experiments = kIds}; }

}  // namespace

TEST_CASE("a run directory keeps finished experiments, and its report has the manifest's order") {
  const TemporaryDirectory base;
  RunDirectory directory(base / "run", Existing::refuse, manifest());
  directory.append(result(kIds[1]), 2);
  directory.append(result(kIds[0]), 1);
  const Report report = directory.write_report(kBaselines, Json::object()).report;
  REQUIRE(report.experiments.size() == 2);
  CHECK(report.experiments[0].id == kIds[0]);
  CHECK(read_report(base / "run/report.json") == report);
  CHECK_FALSE(std::filesystem::exists(base / "run/report.json.tmp"));
}

TEST_CASE("an existing run directory is refused, resumed or replaced as requested") {
  const TemporaryDirectory base;
  { RunDirectory(base / "run", Existing::refuse, manifest()).append(result(kIds[0]), 1); }
  const std::string before = read_whole(base / "run/experiments.jsonl");
  CHECK_THROWS_AS(RunDirectory(base / "run", Existing::refuse, manifest()), InputError);
  CHECK(read_whole(base / "run/experiments.jsonl") == before);
  CHECK(RunDirectory(base / "run", Existing::resume, manifest()).finished().size() == 1);
  const Json other{{"training", {{"steps", 4}}}};
  CHECK_THROWS_WITH(RunDirectory(base / "run", Existing::resume, manifest(other)),
                    ContainsSubstring("training.steps was 3 and is now 4"));
  CHECK(RunDirectory(base / "run", Existing::replace, manifest(other)).finished().empty());
  CHECK(RunDirectory(base / "new", Existing::resume, manifest()).finished().empty());
  Manifest tuned = manifest();
  tuned.tuning = {{"parity_check", "none", 1'000'000'000}};
  { const RunDirectory directory(base / "tuned", Existing::refuse, tuned); }
  std::filesystem::create_directory(base / "tuned/losses");
  write_file(trace_path(base / "tuned", tuned.tuning[0]), "learning_rate,step,loss\n");
  { const RunDirectory directory(base / "tuned", Existing::replace, manifest()); }
  CHECK_FALSE(std::filesystem::exists(base / "tuned/losses"));
}

TEST_CASE("a truncated last line is reported and dropped, and its experiment is run again") {
  const TemporaryDirectory base;
  {
    RunDirectory directory(base / "run", Existing::refuse, manifest());
    directory.append(result(kIds[0]), 1);
    directory.append(result(kIds[1]), 1);
  }
  std::filesystem::resize_file(base / "run/experiments.jsonl",
                               std::filesystem::file_size(base / "run/experiments.jsonl") - 5);
  {
    RunDirectory directory(base / "run", Existing::resume, manifest());
    CHECK(directory.finished().size() == 1);
    CHECK(directory.dropped().find("experiments.jsonl:2: the last line is truncated") != std::string::npos);
    directory.append(result(kIds[1]), 1);
  }
  CHECK(RunDirectory(base / "run", Existing::resume, manifest()).finished().size() == 2);
}

TEST_CASE("a folder that is no run directory is never changed") {
  const TemporaryDirectory base;
  std::filesystem::create_directory(base / "mine");
  base.write("mine/precious.txt", "data");
  for (const Existing existing : {Existing::refuse, Existing::resume, Existing::replace}) {
    CHECK_THROWS_AS(RunDirectory(base / "mine", existing, manifest()), InputError);
  }
  CHECK(std::distance(std::filesystem::directory_iterator(base / "mine"), {}) == 1);
}

TEST_CASE("a file in place of a run directory is refused, and stays") {
  const TemporaryDirectory base;
  const std::filesystem::path file = base.write("report.json", "data");
  for (const Existing existing : {Existing::refuse, Existing::resume, Existing::replace}) {
    CHECK_THROWS_WITH(RunDirectory(file, existing, manifest()),
                      file.string() + " is a file, expected a directory to write; choose another -o");
  }
  CHECK(read_whole(file) == "data");
  CHECK_THROWS_WITH(
      RunDirectory(file / "run", Existing::refuse, manifest()),
      "cannot create '" + (file / "run").string() + "': Not a directory; create the folder or choose another -o");
}

TEST_CASE("a run is resumed only with its shard, its version and its --save-models") {
  const TemporaryDirectory base;
  Manifest before = manifest();
  before.context = {{"commit", "a"}, {"host", "here"}};
  { RunDirectory(base / "run", Existing::refuse, before).append(result(kIds[0]), 1); }
  const auto message = [&](const Manifest& now) -> std::string {
    try {
      RunDirectory(base / "run", Existing::resume, now);
    } catch (const InputError& error) {
      return std::string(error.what()).substr((base / "run").string().size() + 1);
    }
    return "accepted";
  };
  Manifest now = before;
  now.context["host"] = "elsewhere";
  CHECK(message(now) == "accepted");
  now.context["commit"] = "b";
  CHECK(message(now) ==
        "was made by another posbench: commit was \"a\" and is now \"b\"; use --force or another -o");
  now = before;
  now.shard = {2, 3};
  CHECK(message(now) == "holds shard 1/1, and shard 2/3 was requested; use --force or another -o");
  now = before;
  now.save_models = true;
  CHECK(message(now) == "was started without --save-models; use --force or another -o");
}

TEST_CASE("a run that was killed before it wrote its manifest starts again") {
  const TemporaryDirectory base;
  std::filesystem::create_directory(base / "run");
  base.write("run/experiments.jsonl", "");
  base.write("run/.posbench-0123456789abcdef.tmp", "{\"conf");
  RunDirectory(base / "run", Existing::refuse, manifest()).append(result(kIds[0]), 1);
  CHECK(RunDirectory(base / "run", Existing::resume, manifest()).finished().size() == 1);
  CHECK_FALSE(std::filesystem::exists(base / "run/.posbench-0123456789abcdef.tmp"));
}

TEST_CASE("an interrupted replacement is undone if the new manifest is missing, and completed otherwise") {
  const Json other{{"training", {{"steps", 4}}}};
  const TemporaryDirectory base;
  const std::filesystem::path now = base / "run/manifest.json", replaced = base / "run/manifest.json.replaced";
  { RunDirectory(base / "run", Existing::refuse, manifest()).append(result(kIds[0]), 1); }
  std::filesystem::rename(now, replaced);
  base.write("run/manifest.json.next", "{");
  CHECK(RunDirectory(base / "run", Existing::resume, manifest()).finished().size() == 1);
  CHECK(std::filesystem::exists(now));
  CHECK_FALSE(std::filesystem::exists(base / "run/manifest.json.next"));

  { const RunDirectory another(base / "another", Existing::refuse, manifest(other)); }
  std::filesystem::rename(now, replaced);
  std::filesystem::copy_file(base / "another/manifest.json", now);
  CHECK_THROWS_WITH(read_run(base / "run"), ContainsSubstring("was interrupted while it replaced this one"));
  CHECK(RunDirectory(base / "run", Existing::resume, manifest(other)).finished().empty());
  CHECK_FALSE(std::filesystem::exists(replaced));
}

TEST_CASE("a damaged manifest or line is refused with its position, and nothing is changed") {
  const TemporaryDirectory base;
  { RunDirectory(base / "run", Existing::refuse, manifest()).append(result(kIds[0]), 1); }
  const std::string manifest_text = read_whole(base / "run/manifest.json"),
                    line = read_whole(base / "run/experiments.jsonl");
  const auto message = [&](const std::string& file, const std::string& text) -> std::string {
    base.write("run/manifest.json", manifest_text);
    base.write("run/experiments.jsonl", line);
    base.write("run/" + file, text);
    try {
      RunDirectory(base / "run", Existing::resume, manifest());
    } catch (const InputError& error) {
      CHECK(read_whole(base / ("run/" + file)) == text);
      const std::string message = error.what(), folder = (base / "run").string() + "/";
      CHECK(message.starts_with(folder));
      return message.substr(folder.size());
    }
    return "accepted";
  };
  CHECK(message("manifest.json", "{}") == "manifest.json: config is missing");
  CHECK(message("manifest.json", manifest_text.substr(0, 20))
            .starts_with("manifest.json: not JSON: parse error at line "));
  CHECK(message("manifest.json", R"({"config": {}, "context": {}, "experiments": [{"task": 5}]})") ==
        "manifest.json: experiments[0].task is 5, expected a text");
  CHECK(message("manifest.json", R"({"config": {}, "context": {}, "experiments": [], "shard": "3/2"})") ==
        "manifest.json: shard is \"3/2\", expected K/N, as in 2/4");
  CHECK(message("experiments.jsonl", line + "{}\n") == "experiments.jsonl:2: task is missing");
  CHECK(message("experiments.jsonl", "\n" + line).starts_with("experiments.jsonl:1: not JSON: parse error"));
  CHECK(message("experiments.jsonl", line + line) ==
        "experiments.jsonl:2: task is \"parity_check\", with an encoding and a seed that an earlier line has");
  std::string unknown = without_checksum(line);
  unknown.replace(unknown.find("none"), 4, "nine");
  CHECK(message("experiments.jsonl", unknown).starts_with("experiments.jsonl:1: origin_sha256 is "));
}

TEST_CASE("a line ends in the CRC-32 of the bytes before it, and a changed line is refused") {
  const TemporaryDirectory base;
  { RunDirectory(base / "run", Existing::refuse, manifest()).append(result(kIds[0]), 1); }
  const std::string line = read_whole(base / "run/experiments.jsonl");
  const size_t end = line.find(",\"crc32\":\"");
  REQUIRE(end != line.npos);
  CHECK(line.substr(end) == ",\"crc32\":\"" + crc32_text(line.substr(0, end)) + "\"}\n");
  CHECK(crc32_text("123456789") == "cbf43926");  // the check value of the CRC-32 of zlib

  base.write("run/experiments.jsonl", without_checksum(line));
  CHECK(read_run(base / "run").finished.at(kIds[0]).result == result(kIds[0]));
  for (const auto& [before, after] :
       {std::pair("\"seconds\":1.0", "\"seconds\":2.0"), std::pair("\"parameters\":10", "\"parameters\":11")}) {
    std::string changed = line;
    changed.replace(changed.find(before), std::string(before).size(), after);
    base.write("run/experiments.jsonl", changed);
    CHECK_THROWS_WITH(read_run(base / "run"),
                      ContainsSubstring("experiments.jsonl:1: crc32 is \"") &&
                          ContainsSubstring(": the line was changed; delete it, and 'posbench run --resume' runs "
                                            "its experiment again"));
  }
}

TEST_CASE("a flipped bit of a manifest is refused or changes nothing that is read") {
  const TemporaryDirectory base;
  const std::string text = to_text(manifest());
  const auto read = [&](const std::string& changed) {
    const Manifest read = read_run_manifest(base.write("manifest.json", changed));
    return to_text(read);
  };
  REQUIRE(read(text) == text);
  size_t refused = 0;
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string changed = text;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    std::string again;
    try {
      again = read(changed);
    } catch (const InputError&) {
      ++refused;
      continue;
    }
    CHECK(again == text);
  }
  CHECK(refused > 7 * text.size());
  CHECK_THROWS_WITH(
      read(text.substr(0, text.find('3')) + "4" + text.substr(text.find('3') + 1)),
      Catch::Matchers::EndsWith(": the file was changed; restore it, or delete crc32 if the change was intended"));
  Json edited = parse_json(text, "manifest.json");
  edited.erase("crc32");
  edited["config"]["training"]["steps"] = 4;
  CHECK(read_run_manifest(base.write("manifest.json", edited.dump())).config["training"]["steps"] == 4);
}

TEST_CASE("a line of a run with other settings or of another build is refused") {
  const TemporaryDirectory base;
  std::vector<Manifest> others{manifest({{"training", {{"steps", 4}}}})};
  for (const char* key : {"commit", "compiler", "flags", "versions", "plugins"}) {
    others.push_back(manifest());
    others.back().context[key] = "another";
  }
  { RunDirectory(base / "run", Existing::refuse, manifest()).append(result(kIds[0]), 1); }
  for (const Manifest& its : others) {
    RunDirectory(base / "other", Existing::refuse, its).append(result(kIds[0]), 1);
    base.write("run/experiments.jsonl", read_whole(base / "other/experiments.jsonl"));
    CHECK_THROWS_WITH(
        read_run(base / "run"),
        ContainsSubstring("experiments.jsonl:1: origin_sha256 is \"") &&
            ContainsSubstring("the line is of a run with other settings or of another build; delete it"));
    CHECK_THROWS_AS(RunDirectory(base / "run", Existing::resume, manifest()), InputError);
    std::filesystem::remove_all(base / "other");
  }
}

TEST_CASE("a line whose splits are not those of its task is refused with file and line") {
  const TemporaryDirectory base;
  { RunDirectory(base / "run", Existing::refuse, manifest()).append(result(kIds[0]), 1); }
  std::string line = without_checksum(read_whole(base / "run/experiments.jsonl"));
  line.replace(line.find("in_distribution"), 15, "in_distributiom");
  base.write("run/experiments.jsonl", line);
  RunDirectory directory(base / "run", Existing::resume, manifest());
  CHECK_THROWS_WITH(
      directory.write_report(kBaselines, Json::object()),
      (base / "run/experiments.jsonl").string() +
          ":1: splits[0].name is \"in_distributiom\", not a split of its task with kind in_distribution");
  CHECK_FALSE(std::filesystem::exists(base / "run/report.json"));
}

TEST_CASE(
    "a run with saved models resumes without models of extended results, and not without those of trained ones") {
  const TemporaryDirectory base;
  Manifest saving = manifest();
  saving.save_models = true;
  {
    RunDirectory directory(base / "run", Existing::refuse, saving);
    ExperimentResult extended = result(kIds[1]);
    extended.extended = Extended{.parent = "none", .encoding = "rope"};
    directory.append(extended, 1);
  }
  CHECK(RunDirectory(base / "run", Existing::resume, saving).finished().size() == 1);
  { RunDirectory(base / "run", Existing::resume, saving).append(result(kIds[0]), 1); }
  CHECK_THROWS_WITH(RunDirectory(base / "run", Existing::resume, saving),
                    ContainsSubstring("is missing, and its experiment is finished"));
}

TEST_CASE("changed losses of a finished experiment are refused, and those of a diverged one are written again") {
  const TemporaryDirectory base;
  ExperimentResult diverged{
      .id = kIds[1], .status = Status::diverged, .reason = "the loss was inf", .diverged_step = 2};
  const std::filesystem::path finished_losses = trace_path(base / "run", kIds[0]),
                              diverged_losses = trace_path(base / "run", kIds[1]);
  const auto write = [&](const std::filesystem::path& path, const std::string& text) { write_file(path, text); };
  {
    RunDirectory directory(base / "run", Existing::refuse, manifest());
    std::filesystem::create_directory(base / "run/losses");
    for (const auto& path : {finished_losses, diverged_losses})
      write(path, "learning_rate,step,loss\n0.1,1,0.5\n");
    directory.append(result(kIds[0]), 1);
    directory.append(diverged, 1);
  }
  base.write("run/losses/.posbench-0123456789abcdef.tmp", "learn");
  CHECK(RunDirectory(base / "run", Existing::resume, manifest()).finished().size() == 2);
  CHECK_FALSE(std::filesystem::exists(base / "run/losses/.posbench-0123456789abcdef.tmp"));

  write(diverged_losses, "learning_rate,step,loss\n0.1,1,0.6\n");
  CHECK(RunDirectory(base / "run", Existing::resume, manifest()).finished().size() == 1);
  write(finished_losses, "learning_rate,step,loss\n0.1,1,0.6\n");
  CHECK_THROWS_WITH(RunDirectory(base / "run", Existing::resume, manifest()),
                    Catch::Matchers::StartsWith(finished_losses.string() + ": its checksum is ") &&
                        ContainsSubstring("delete line 1 of " + (base / "run/experiments.jsonl").string()));
  std::filesystem::remove(finished_losses);
  CHECK(RunDirectory(base / "run", Existing::resume, manifest()).finished().size() == 1);
}

TEST_CASE("lines are written to the locked file or not at all") {
  const TemporaryDirectory base;
  RunDirectory directory(base / "run", Existing::refuse, manifest());
  std::filesystem::rename(base / "run/experiments.jsonl", base / "run/elsewhere");
  CHECK_THROWS_WITH(directory.append(result(kIds[0]), 1),
                    ContainsSubstring("experiments.jsonl': No such file or directory"));
  base.write("run/experiments.jsonl", "");
  CHECK_THROWS_WITH(directory.append(result(kIds[0]), 1), ContainsSubstring("another file has taken its place"));
  CHECK(directory.finished().empty());
  CHECK(std::filesystem::file_size(base / "run/experiments.jsonl") == 0);
  CHECK(std::filesystem::file_size(base / "run/elsewhere") == 0);
}

TEST_CASE("shards partition a suite") {
  CHECK(Shard::parse("2/4") == Shard{2, 4});
  for (const char* bad : {"", "2", "/", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1/ 2"}) {
    CHECK_THROWS_AS(Shard::parse(bad), InputError);
  }
  const RunConfig config =
      make_config({.profile = "smoke", .tasks = "parity_check", .encodings = "none,rope,alibi"});
  const Suite whole = make_suite(config), one = make_suite(config, {1, 2}), two = make_suite(config, {2, 2});
  REQUIRE(one.experiments.size() == 2);
  REQUIRE(two.experiments.size() == 1);
  CHECK(one.experiments[0].id() == whole.experiments[0].id());
  CHECK(two.experiments[0].id() == whole.experiments[1].id());
  CHECK(one.experiments[1].id() == whole.experiments[2].id());
}
