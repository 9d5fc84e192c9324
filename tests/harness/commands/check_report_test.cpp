// `posbench check REPORT` repeats experiments of a report and finds differences.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "base/sha256.h"
#include "results/json/json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/temporary.h"

using namespace posbench;

TEST_CASE("check passes an unchanged report, and fails one with a changed count") {
  const TemporaryDirectory directory;
  REQUIRE(
      posbench_command(directory, "run --profile smoke -t parity_check,flip_flop -e none,rope -q -o run").code ==
      0);
  const Outcome same = posbench_command(directory, "check run --sample 4");
  INFO(same.out << same.error);
  CHECK(same.code == 0);
  CHECK(contains(same.out, "4 of 4 experiments agree"));
  CHECK_FALSE(contains(same.error, "another version"));

  const Json report = read_json(directory / "run/report.json");
  const auto differing = [&](const std::string& pointer, const Json& value) {
    Json changed = report;
    changed[Json::json_pointer(pointer)] = value;
    directory.write("changed.json", changed.dump());
    const Outcome outcome = posbench_command(directory, "check changed.json --sample 4");
    CHECK(outcome.code == 1);
    std::istringstream words(outcome.out.substr(std::min(outcome.out.find("DIFFERS"), outcome.out.size())));
    std::string text;  // without the breaks of the lines
    for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
    return text.empty() ? outcome.out + outcome.error : text;
  };
  const std::string lengths = differing("/experiments/1/splits/0/sequences", 9);
  CHECK(contains(lengths, "splits.in_distribution.sequences: 9 in the report, 8 now"));
  CHECK(contains(lengths, "3 of 4 experiments agree"));
  CHECK(
      differing("/experiments/1/learning_curve/0/validation_token", 0.123)
          .starts_with(
              "DIFFERS rope on parity_check with seed 0: learning_curve.0.validation_token: 0.123 in the report"));
  Json shorter = report["experiments"][1]["learning_curve"];
  shorter.erase(0);
  CHECK(differing("/experiments/1/learning_curve", shorter)
            .starts_with("DIFFERS rope on parity_check with seed 0: learning_curve: "));
  CHECK(differing("/tasks/0/splits/0/trivial/constant", 0.001)
            .starts_with(
                "DIFFERS task parity_check: splits.in_distribution.trivial.constant: 0.001 in the report, "));
  CHECK(differing("/tasks/1/splits/1/options/p_ignore", "0.5")
            .starts_with(
                "DIFFERS task flip_flop: splits.ood_dense.options.p_ignore: \"0.5\" in the report, \"0.1\" now"));
  CHECK(differing("/summary/2/in_distribution/token/mean", 0.123)
            .starts_with(
                "DIFFERS summary and ranking: summary.2.in_distribution.token.mean: 0.123 in the report, "));
}

TEST_CASE(
    "check refuses a contradictory report and one of another configuration, and finds a missing experiment") {
  const TemporaryDirectory directory;
  REQUIRE(
      posbench_command(directory, "run --profile smoke -t parity_check,flip_flop -e none,rope -q -o run").code ==
      0);
  const Json report = read_json(directory / "run/report.json");
  Json contradictory = report;
  contradictory["experiments"][1]["splits"][0]["token"]["accuracy"] = 1.6;
  directory.write("contradictory.json", contradictory.dump());
  for (const std::string command : {"check contradictory.json", "report contradictory.json"}) {
    const Outcome outcome = posbench_command(directory, command);
    CHECK(outcome.code == 2);
    CHECK(outcome.error.starts_with(
        "posbench: contradictory.json: experiments[1].splits[0].token.accuracy is 1.6, expected "));
  }

  Json fewer = report;
  fewer["experiments"].erase(0);
  for (const char* key : {"summary", "ranking"}) fewer.erase(key);  // they would differ
  directory.write("fewer.json", fewer.dump());
  const Outcome chosen = posbench_command(directory, "check fewer.json --sample 1 --seed 3");
  CHECK(chosen.code == 1);
  CHECK(contains(chosen.out, "1 of 1 experiments agree"));
  CHECK(contains(chosen.out, "1 experiments of the report's config are not in the report"));
  CHECK(chosen.out == posbench_command(directory, "check fewer.json --sample 1 --seed 3").out);

  Json foreign = report;
  foreign["experiments"][0]["seed"] = 7;
  directory.write("foreign.json", foreign.dump());
  const Outcome refused = posbench_command(directory, "check foreign.json --sample 4");
  CHECK(refused.code == 2);
  CHECK(
      refused.error ==
      "posbench: foreign.json: experiment 'none on parity_check with seed 7' is not in the report's config; verify the "
      "unchanged report of a run\n");

  CHECK(contains(refusal(directory, "check run rope"), "give one report, or names"));
  CHECK(
      refusal(directory, "check run --variants") ==
      "posbench: --variants is an option of 'posbench check NAME', not of 'posbench check REPORT'; leave it out\n");
  CHECK(contains(refusal(directory, "check rope --sample 2"), "not of 'posbench check NAME'"));
  CHECK(refusal(directory, "verify run") ==
        "posbench: 'posbench verify' was removed; use 'posbench check REPORT'\n");
  CHECK(refusal(directory, "check missing.json") == "posbench: missing.json: there is no such file or folder\n");
  CHECK(contains(refusal(directory, "check run --sample 0"), "'0' is not a number from 1 to"));
}

TEST_CASE("check finds the experiments that the report of a shard omits, and a shard that is not its own") {
  const TemporaryDirectory directory;
  succeeded(directory, "run --profile smoke -t parity_check -e none,rope,alibi,t5_bias -q --shard 1/2 -o run");
  const Outcome same = posbench_command(directory, "check run --sample 1");
  INFO(same.out << same.error);
  CHECK(same.code == 0);
  std::filesystem::rename(directory / "run/report.json", directory / "report.json");
  succeeded(directory, "check run --sample 1");  // from the lines of the shard

  const Json report = read_json(directory / "report.json");
  Json fewer = report;
  fewer["experiments"].erase(1);
  directory.write("fewer.json", fewer.dump());
  const Outcome incomplete = posbench_command(directory, "check fewer.json --sample 1");
  CHECK(incomplete.code == 1);
  CHECK(contains(incomplete.out, "1 experiments of the report's config are not in the report"));

  Json other = report;
  other["context"]["shard"] = "2/2";
  directory.write("other.json", other.dump());
  CHECK(
      posbench_command(directory, "check other.json --sample 1").error ==
      "posbench: other.json: experiment 'none on parity_check with seed 0' is not in the report's config; verify the "
      "unchanged report of a run\n");
  other["context"]["shard"] = "3/2";
  directory.write("other.json", other.dump());
  CHECK(posbench_command(directory, "check other.json --sample 1").error ==
        "posbench: other.json: context.shard is \"3/2\", expected K/N, as in 2/4\n");
}

TEST_CASE("check compares the chosen learning rate") {
  const TemporaryDirectory directory;
  succeeded(directory, "run --profile smoke -t parity_check -e rope --learning-rates 1e-3,3e-3 -q -o run");
  Json report = read_json(directory / "run/report.json");
  Json& rate = report["experiments"][0]["learning_rate"];
  const double other = rate == 1e-3 ? 3e-3 : 1e-3;
  rate = other;
  directory.write("changed.json", report.dump());
  const Outcome outcome = posbench_command(directory, "check changed.json");
  CHECK(outcome.code == 1);
  CHECK(contains(outcome.out, "learning_rate: " + Json(other).dump() + " in the report, "));
}

TEST_CASE("check chooses experiments by the seed, and not always the first ones") {
  const TemporaryDirectory directory;
  succeeded(directory, "run --profile smoke -t parity_check -e none,rope,alibi,t5_bias -q -o run");
  std::set<std::string> chosen;
  for (const char* seed : {"0", "1", "2", "3", "4", "5", "6", "7"}) {
    const std::string out = posbench_command(directory, std::string("check run --sample 1 --seed ") + seed).out;
    const size_t begin = out.find("\nsame ");
    REQUIRE(begin != std::string::npos);
    chosen.insert(out.substr(begin, out.find(" on ", begin) - begin));
  }
  CHECK(chosen.size() > 1);
}

TEST_CASE("SHA-256 agrees with the examples of FIPS 180-4 and with every length of padding") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  std::string of_lengths;  // the hash of the hashes, by hashlib of Python
  for (size_t length = 0; length < 130; ++length) of_lengths += sha256(std::string(length, 'a'));
  CHECK(sha256(of_lengths) == "c665ed20ef30f158e90c7e921d8182bc0943c4b087a82f64a18d417bcdfadce7");
  CHECK(sha256(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
