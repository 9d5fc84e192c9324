// `posbench verify` repeats experiments of a report and finds differences.
#include <nlohmann/json.hpp>
#include <string>

#include "base/sha256.h"
#include "results/json/json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/harness/temporary.h"

using namespace posbench;

TEST_CASE("verify passes an unchanged report, and fails one with a changed count or a missing experiment") {
  const TemporaryDirectory directory;
  REQUIRE(
      posbench_command(directory, "run --profile smoke -t parity_check,flip_flop -e none,rope -q -o run").code ==
      0);
  const Outcome same = posbench_command(directory, "verify run --sample 4");
  INFO(same.out << same.error);
  CHECK(same.code == 0);
  CHECK(same.out.find("4 of 4 experiments agree") != std::string::npos);
  CHECK(same.error.empty());

  const Json report = Json::parse(read_whole(directory / "run/report.json"));
  Json changed = report;
  Json& count = changed["experiments"][1]["splits"][0]["token"]["correct"];
  count = count.get<int>() + (count.get<int>() > 0 ? -1 : 1);
  directory.write("changed.json", changed.dump());
  const Outcome different = posbench_command(directory, "verify changed.json --sample 4");
  CHECK(different.code == 1);
  CHECK(different.out.find("DIFFERS") != std::string::npos);
  CHECK(different.out.find("in_distribution, tokens: ") != std::string::npos);
  CHECK(different.out.find("3 of 4 experiments agree") != std::string::npos);

  Json fewer = report;
  fewer["experiments"].erase(0);
  directory.write("fewer.json", fewer.dump());
  const Outcome chosen = posbench_command(directory, "verify fewer.json --sample 1 --seed 3");
  CHECK(chosen.code == 1);
  CHECK(chosen.out.find("1 experiments of the report's config are not in the report") != std::string::npos);
  CHECK(chosen.out == posbench_command(directory, "verify fewer.json --sample 1 --seed 3").out);

  Json foreign = report;
  foreign["experiments"][0]["seed"] = 7;
  directory.write("foreign.json", foreign.dump());
  const Outcome refused = posbench_command(directory, "verify foreign.json --sample 4");
  CHECK(refused.code == 2);
  CHECK(
      refused.error ==
      "posbench: foreign.json: experiment 'none on parity_check with seed 7' is not in the report's config; verify the "
      "unchanged report of a run\n");

  for (const std::string arguments : {"verify", "verify missing.json", "verify run --sample 0"}) {
    INFO(arguments);
    CHECK(posbench_command(directory, arguments).code == 2);
  }
}

TEST_CASE("SHA-256 agrees with the examples of FIPS 180-4 and with every length of padding") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
