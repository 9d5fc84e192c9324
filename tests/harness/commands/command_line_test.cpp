// The command line: exit codes and messages of one line; invalid input changes nothing on disk.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "results/json/json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/harness/report_json.h"
#include "tests/temporary.h"

using namespace posbench;

TEST_CASE("invalid input gives a message of one line and exit code 2, and changes nothing on disk") {
  const TemporaryDirectory directory;
  directory.write("broken.json", "{\"tasks\": ");
  directory.write("odd.json", "{\"training\": {\"stepz\": 1}}");
  directory.write("file", "");
  for (const std::string arguments : {"runn",
                                      "run -e rop",
                                      "run -t flipflop",
                                      "run -e cope:position=5",
                                      "run -e cope:positions=-1",
                                      "run -e rope:pairing=x",
                                      "run -t last_x_retrieval:length=4",
                                      "run --set model.width=63",
                                      "run --set model.widht=64",
                                      "run --set width",
                                      "run -s 0",
                                      "run -s a",
                                      "run -j 0",
                                      "run --threads 0",
                                      "run --threads -1",
                                      "run --threads x",
                                      "run --threads 5000",
                                      "run --resume",
                                      "run --resume -o missing",
                                      "run --list-only --dry-run",
                                      "run --list-only --show-config",
                                      "run --dry-run --show-config",
                                      "reproduce --list --dry-run",
                                      "reproduce --list --judge-only",
                                      "reproduce --judge-only --dry-run",
                                      "run --sweep model.width=32,64 --sweep model.width=128 --dry-run",
                                      "run --config missing.json",
                                      "run --config broken.json",
                                      "run --config odd.json",
                                      "run --profile quik",
                                      "run -o /proc/nowhere/x",
                                      "run -o file/x",
                                      "run --resume --force -o x",
                                      "run -e 'zzz*'",
                                      "run -e rope --extend cope --list-only",
                                      "run -e 'all,-*'",
                                      "run --set model.attention=bidirectional",
                                      "list encoding",
                                      "show rop",
                                      "sample flip_flop --split sparse",
                                      "sample flip_flop --layout slots",
                                      "check rop",
                                      "run --color blue",
                                      "run --shard 3/2",
                                      "run --checkpoint-every -1",
                                      "run --learning-rates 1e-3,fast",
                                      "merge file -o out",
                                      "merge missing -o out",
                                      "merge -o out",
                                      "run -q -v",
                                      "compare odd.json",
                                      "compare odd.json missing.json",
                                      "compare broken.json odd.json",
                                      "report missing.json",
                                      "report odd.json --format html",
                                      "report odd.json -o page.html",
                                      "report odd.json --format pdf",
                                      "report odd.json --by-split --format csv",
                                      "report odd.json --by-split -o page.html",
                                      "report",
                                      "bench --sizes huge",
                                      "bench -e rop"}) {
    CAPTURE(arguments);
    const Outcome outcome = posbench_command(directory, arguments);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.error.begin(), outcome.error.end(), '\n') == 1);
    CHECK(outcome.error.starts_with("posbench: "));
  }
  CHECK(std::distance(std::filesystem::directory_iterator(directory / ""), {}) == 3);
}

TEST_CASE("a run writes a report, is refused in the same directory, and resumes without work") {
  const TemporaryDirectory directory;
  const std::string run = "run --profile smoke -t parity_check,last_x_retrieval -e none,cope -q ";
  const Outcome first = succeeded(directory, run + "-o out -j 1");
  CHECK(first.error.empty());
  CHECK(first.out.empty());  // -q
  CHECK(read_whole(directory / "out/report.html").starts_with("<!DOCTYPE html>"));
  const Outcome second = posbench_command(directory, run + "-o out");
  CHECK(second.code == 2);
  CHECK(second.error ==
        "posbench: out exists; add --resume to continue it, --force to replace it, or choose another -o\n");
  const Outcome resumed = succeeded(directory, run + "-o out --resume");
  CHECK(resumed.out == first.out);
  const Json context = read_json(directory / "out/report.json").at("context");
  std::filesystem::remove(directory / "out/report.json");
  succeeded(directory, "run --resume -q -o out");
  const Json again = read_json(directory / "out/report.json").at("context");
  CHECK(again.at("started") == context.at("started"));
  CHECK(again.at("command") == context.at("command"));  // that began the run

  succeeded(directory, run + "-o two -j 2");
  CHECK(without_context(directory / "out/report.json").dump() ==
        without_context(directory / "two/report.json").dump());
  const Outcome repeated = succeeded(directory, "run --config out/report.json -q -o three");
  CHECK(repeated.out.substr(0, repeated.out.find("report:")) == first.out.substr(0, first.out.find("report:")));
}

TEST_CASE("--dry-run and --show-config run nothing") {
  const TemporaryDirectory directory;
  const Outcome plan = succeeded(directory, "run --profile smoke -t parity_check -e none,rope --dry-run");
  CHECK(contains(plan.out, "rope"));
  CHECK(contains(plan.out, "2 experiments"));
  const Outcome config = succeeded(directory, "run --profile smoke --set model.width=32 --show-config");
  CHECK(Json::parse(config.out)["model"]["width"] == 32);
  CHECK(std::filesystem::is_empty(directory / ""));
}

TEST_CASE("a dry run of many experiments has their sums by task and encoding, and --quiet prints no table") {
  const TemporaryDirectory directory;
  const std::string run = "run --profile smoke -t parity_check,flip_flop -e none,rope -s 7 ";
  const std::string plan = posbench_command(directory, run + "--dry-run").out;
  for (const char* name : {"parity_check", "flip_flop", "none", "rope"})
    CHECK_THAT(plan, ContainsSubstring(fmt::format("\n{}", name)) && ContainsSubstring("  14  "));
  CHECK_THAT(plan, ContainsSubstring("28 experiments; about "));
  const std::string full = posbench_command(directory, run + "--dry-run --full").out;
  CHECK(std::ranges::count(full, '\n') > 28);
  CHECK_THAT(refusal(directory, run + "--full"), ContainsSubstring("--dry-run"));
  const Outcome quiet = posbench_command(directory, "run -q --profile smoke -t parity_check -e none -o quiet");
  CHECK(quiet.code == 0);
  CHECK(quiet.out.empty());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they slow down the first steps most
TEST_CASE("a dry run's estimate is within 30 % of what the run then takes") {
  const std::string training =
      GENERATE("--set training.steps=2000 ", "--set training.steps=1000 --learning-rates 1e-3,1e-2 ");
  const std::string suite = "run --profile smoke -t flip_flop,reverse_string -e none,cope -j 2 " + training;
  const auto spent = [] {  // CPU time, since other processes may use the machine
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
  };
  const auto is_near = [&] {
    const TemporaryDirectory directory;
    const std::string plan = posbench_command(directory, suite + "--dry-run").out;
    const double estimate = std::stod(plan.substr(plan.find("about ") + 6));
    const double before = spent();
    succeeded(directory, suite + "-q -o out");
    const double real = spent() - before;
    UNSCOPED_INFO("estimated " << estimate << " s, took " << real << " s");
    return estimate + 0.5 > 0.7 * real && estimate - 0.5 < 1.3 * real;  // the estimate is rounded to seconds
  };
  // Other processes sometimes slow down one of the two; a wrong estimate is wrong each time.
  CHECK((is_near() || is_near() || is_near()));
}
#endif

TEST_CASE("list, sample and show are complete, and print JSON on request") {
  const TemporaryDirectory directory;
  for (const std::string what : {"tasks", "encodings", "profiles", "settings"}) {
    const Json json = Json::parse(posbench_command(directory, "list " + what + " --json").out);
    CHECK(json.at(what).size() >= 2);
    CHECK_FALSE(posbench_command(directory, "list " + what).out.empty());
  }
  const Json samples = Json::parse(posbench_command(directory, "sample flip_flop -n 4 --json").out);
  CHECK(samples["samples"].size() == 4);
  const Json last = Json::parse(posbench_command(directory, "sample flip_flop -n 1 --first 3 --json").out);
  CHECK(last["samples"][0] == samples["samples"][3]);
  CHECK(last["first"] == 3);
  CHECK(Json::parse(posbench_command(directory, "show che").out)["model"]["attention"] == "bidirectional");
  CHECK(contains(posbench_command(directory, "show parity_check --full").out, " chance "));
}

TEST_CASE("a certificate passes and reports its errors") {
  const TemporaryDirectory directory;
  const Outcome outcome = succeeded(directory, "check cope rope last_x_retrieval --json");
  const Json json = Json::parse(outcome.out);
  REQUIRE(json["certificates"].size() == 3);
  CHECK(json["certificates"][0]["worst_gradient_error"] < 1e-6);
  CHECK(json["certificates"][0]["properties"]["agree"] == true);
  CHECK(json["certificates"][1]["properties"]["extrapolates"]["measured"] == "defined");
  CHECK(json["certificates"][2]["splits"]["ood_far2"]["largest_answer_fraction"]["measured"] < 0.15);
}

TEST_CASE("check accepts globs, and checks the variants of a registration") {
  const TemporaryDirectory directory;
  const Outcome outcome = succeeded(directory, "check 'kerple_l*' --variants -j 1");
  CHECK(contains(outcome.out, "pass kerple_log "));
  CHECK(contains(outcome.out, "pass kerple_log:per_layer=true ("));
  CHECK(contains(outcome.out, "distance decay: yes"));
  succeeded(directory, "check navigation_2d:size=12,length=3..40");
  CHECK(contains(refusal(directory, "check 'x?z'"), "'x?z' matches no encoding or task"));
  CHECK(posbench_command(directory, "check 'kerple_l*' --variants -j 3").out == outcome.out);
}

TEST_CASE("reports are compared and tabulated") {
  const TemporaryDirectory directory;
  const std::string run = "run --profile smoke -t parity_check -e none,rope -s 2 -q ";
  succeeded(directory, run + "-o one");
  succeeded(directory, run + "-o two");
  const Outcome same = succeeded(directory, "compare one two --fail-on-regression --format json");
  const Json comparison = Json::parse(same.out);
  REQUIRE_FALSE(comparison.at("rows").empty());
  for (const Json& row : comparison.at("rows")) CHECK(row.at("difference") == 0);
  CHECK_FALSE(posbench_command(directory, "compare one/report.json two/report.json").out.empty());
  for (const std::string format : {"console", "markdown", "csv", "json"}) {
    CHECK(contains(posbench_command(directory, "report one --format " + format).out, "rope"));
  }
  const std::string by_split = posbench_command(directory, "report one --by-split").out;
  CHECK(by_split.starts_with("parity_check\n"));
  CHECK(contains(posbench_command(directory, "report one --by-split --format markdown").out,
                 "| in_distribution | ood_length "));
  CHECK(posbench_command(directory, "report one two -o both.html").out.empty());
  CHECK(contains(read_whole(directory / "both.html"), "rope (two)"));
  succeeded(directory, "report one -o one.csv");
  CHECK(read_whole(directory / "one.csv").starts_with("task,encoding,seed,status"));
  CHECK(posbench_command(directory, "compare one two --format html").out.starts_with("<!DOCTYPE html>"));
}

TEST_CASE("--licenses prints a notice for each linked or embedded library") {
  const TemporaryDirectory directory;
  const Outcome outcome = succeeded(directory, "--licenses");
  for (const std::string library : {"Eigen", "nlohmann/json", "CLI11", "{fmt}", "Boost", "Vega and D3"})
    CHECK(contains(outcome.out, "==== " + library));
  CHECK(contains(outcome.out, "Boost Software License - Version 1.0"));
}

TEST_CASE("--resume with a directory alone continues its configuration") {
  const TemporaryDirectory directory;
  const std::string run =
      "run --profile smoke -t parity_check -e none,rope -s 1 --set training.steps=6 "
      "--save-models --trace-loss -j 1 -q -o ";
  succeeded(directory, run + "whole");
  succeeded(directory, run + "out");
  const std::string lines = read_whole(directory / "out/experiments.jsonl");
  directory.write("out/experiments.jsonl", lines.substr(0, lines.find('\n') + 1));
  std::filesystem::remove(directory / "out/report.json");
  const std::string losses = "/losses/parity_check-rope-0.csv";  // of the experiment that is run again
  std::filesystem::remove(directory / ("out" + losses));
  succeeded(directory, "run --resume -q -o out");
  CHECK(read_whole(directory / ("out" + losses)) == read_whole(directory / ("whole" + losses)));
  CHECK(without_context(directory / "whole/report.json").dump() ==
        without_context(directory / "out/report.json").dump());
  CHECK(contains(read_whole(directory / "whole/manifest.json"), "\"save_models\": true"));
  const Outcome other = posbench_command(directory, "run --profile smoke -e cope --resume -q -o out");
  CHECK(other.code == 2);
  CHECK(contains(other.error, "'posbench run --resume -o out' continues it with its own"));
}

TEST_CASE("-v prints the loss of every validation before its experiment is finished") {
  const TemporaryDirectory directory;
  const Outcome run = succeeded(directory,
                                "run --profile smoke -t parity_check -e rope -s 1 --set training.steps=6 "
                                "--set training.validate_every=2 -v -o out");
  const size_t finished = run.error.find("[1/1] rope on parity_check, seed 0: ");
  REQUIRE(finished != std::string::npos);
  for (const int step : {2, 4, 6}) {
    const size_t at = run.error.find(fmt::format("rope on parity_check, seed 0: step {}, loss ", step));
    CAPTURE(step, run.error);
    CHECK(at < finished);
  }
}

TEST_CASE("messages suggest the option, the split or the match that was meant") {
  const TemporaryDirectory directory;
  const auto error = [&](const std::string& arguments) { return posbench_command(directory, arguments).error; };
  CHECK(contains(error("run --steps 5"), "use --set training.steps=VALUE"));
  CHECK(contains(error("run --lr 1e-3"), "use --set training.learning_rate=VALUE"));
  CHECK(contains(error("run --set training.lr=1e-3"), "did you mean 'learning_rate'?"));
  CHECK(contains(error("run --device cuda"), "posbench computes on the CPU"));
  CHECK(error("board -q -t flip_flop --split ood_far4")
            .starts_with("posbench: task 'flip_flop' has no split 'ood_far4' (splits: in_distribution, "));
  CHECK(contains(error("run --set training.steps"), "--set is 'training.steps', expected SECTION.OPTION=VALUE"));
  for (const std::string command : {"sample flip_flop", "export flip_flop -o x.safetensors", "export rope"}) {
    CHECK(contains(error(command + " -s -1"), "'-1' is not an integer from 0 to 1000000000000"));
  }
  CHECK(contains(error("list"), "(usage: posbench list [OPTIONS] kind; "));
  CHECK(contains(error("report"), "(usage: posbench report [OPTIONS] "));
  const std::string run =
      "run --profile smoke -t parity_check --set training.steps=2 --set training.validate_every=2 -q ";
  succeeded(directory, run + "-s 1 -e cope -o before");
  succeeded(directory, run + "-s 1 -e cope:positions=4 -o after");
  CHECK(contains(error("compare before after"), "add --match 'cope=cope:positions=4'"));
  CHECK(contains(error("compare before --between cope,COPE"), "expected two different encodings"));
  CHECK(contains(error("compare before --between cope,rope --match cope=rope"), "exclude each other"));
  CHECK(contains(error("report before --metric loss -o x.csv"), "--metric needs --format"));
  CHECK(contains(error("report before --split ''"), "the list of splits is empty"));
  CHECK(contains(error("bench --sizes ''"), "'' is not one of quick, che"));
  CHECK(contains(error("check standard"), "no encoding or task is called 'standard'"));
  CHECK(contains(error("show layers:window=abc"), "window is 'abc', expected"));
  for (const char* name : {"", " ", "a,b", "all"})
    CHECK(error(fmt::format("score x.jsonl --name '{}' -o x.json", name))
              .starts_with(fmt::format("posbench: --name is '{}', ", name)));
  CHECK(contains(error("run -t flip_flop -e rope --set training.momentum=0.5"),
                 "training.optimizer=adamw has none"));
  CHECK(contains(error("inspect nowhere flip_flop rope"), "nowhere does not exist, expected a run directory"));
  succeeded(directory, run + "-s 2 -e none,rope --shard 1/2 -o 1");
  succeeded(directory, run + "-s 2 -e none,alibi --shard 2/2 -o 2");
  CHECK(contains(error("merge 1 2 -o all"), "encodings was [\"none\",\"rope\"] and is now [\"none\",\"alibi\"]"));
}
