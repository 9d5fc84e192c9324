// Compares the output of `posbench inspect` for trained models with their equations and reports.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/exchange/saved_model.h"
#include "results/json/json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

using Map = std::vector<std::vector<double>>;  // [query][key], key <= query

/// Returns the maps of one layer and head by name.
std::map<std::string, Map> maps(const Json& inspection, int layer, int head) {
  std::map<std::string, Map> found;
  for (const Json& map : inspection.at("maps")) {
    if (map.at("layer") == layer && map.at("head") == head) found[map.at("name")] = map.at("values").get<Map>();
  }
  return found;
}

template <class F>
void for_each_pair(const Map& map, F f) {
  for (size_t i = 0; i < map.size(); ++i) {
    REQUIRE(map[i].size() == i + 1);
    for (size_t j = 0; j <= i; ++j) f(i, j);
  }
}

/// Returns a folder with a run in `out`, which is made once.
const TemporaryDirectory& trained() {
  static const TemporaryDirectory directory;
  [[maybe_unused]] static const Outcome run = succeeded(
      directory,
      "run --profile smoke -t last_x_retrieval,parity_check -e 'none,alibi,cope:positions=5,dape,sinusoidal,t5_bias,sum:of=(cope,rope)' -q -o out --save-models");
  return directory;
}

/// Returns the maps of one example as JSON.
Json inspected(const std::string& encoding) {
  const Outcome outcome =
      succeeded(trained(), "inspect out last_x_retrieval " + encoding + " --seed 0 --format json");
  return Json::parse(outcome.out);
}

}  // namespace

TEST_CASE("the parts of a trained encoding's scores agree with its equation") {
  SECTION("CoPE's contextual position is the sum of the gates up to the query, clamped") {
    const auto seen = maps(inspected("cope:positions=5"), 0, 1);
    const Map &gate = seen.at("gate"), &counted = seen.at("contextual position");
    for_each_pair(gate, [&](size_t i, size_t j) {
      CHECK((gate[i][j] > 0 && gate[i][j] < 1));
      double sum = 0;
      for (size_t m = j; m <= i; ++m) sum += gate[i][m];
      CHECK(counted[i][j] == Approx(std::min(sum, 4.0)).margin(1e-4));
    });
  }
  SECTION("DAPE shows its bias before and after the network") {
    const auto seen = maps(inspected("dape"), 0, 1), alibi = maps(inspected("alibi"), 0, 1);
    double change = 0;
    for_each_pair(seen.at("bias after the network"), [&](size_t i, size_t j) {
      CHECK(seen.at("bias before the network")[i][j] == Approx(alibi.at("positional part")[i][j]).margin(1e-4));
      CHECK(seen.at("bias after the network")[i][j] == Approx(seen.at("positional part")[i][j]).margin(1e-4));
      change += std::abs(seen.at("bias after the network")[i][j] - seen.at("bias before the network")[i][j]);
    });
    CHECK(change > 0.1);
  }
}

TEST_CASE("inspect states for each head if its position term favors near keys") {
  const TemporaryDirectory& directory = trained();
  const auto signs = [&](const std::string& arguments) {
    const Outcome outcome = succeeded(directory, "inspect out last_x_retrieval " + arguments + " --format json");
    std::set<std::string> signs;
    const Json json = Json::parse(outcome.out);
    for (const Json& head : json.at("heads")) {
      const Json& sign = head.at("position_term");
      signs.insert(sign.is_null() ? "null" : sign.get<std::string>());
    }
    return signs;
  };
  using Signs = std::set<std::string>;
  CHECK(signs("alibi") == Signs{"local"});
  CHECK(signs("alibi --over 4") == Signs{"local"});
  CHECK(signs("none") == Signs{"null"});
  CHECK(signs("none --over 4") == Signs{"null"});

  // A bias that rises with the bucket of the distance is planted into a saved model.
  const std::filesystem::path file = find_model(directory / "out", "last_x_retrieval", "t5_bias", 0);
  SavedModel saved = load_model(file);
  MatrixView table = saved.parameters[saved.model.layout.at("t5_bias.table")];
  for (Index bucket = 0; bucket < table.rows(); ++bucket) table.row(bucket).setConstant(static_cast<Real>(bucket));
  save_model(file, saved.experiment, saved.model, saved.parameters);
  CHECK(signs("t5_bias") == Signs{"anti-local"});
  CHECK(signs("t5_bias --over 4") == Signs{"anti-local"});
}

TEST_CASE("means over samples leave out distances whose keys are all hidden") {
  const TemporaryDirectory directory;
  succeeded(directory,
            "run --profile smoke -t last_x_retrieval -e alibi --set model.window=4 -q -o out --save-models");
  const std::string inspect = "inspect out last_x_retrieval alibi --over 4 ";
  const Outcome outcome = succeeded(directory, inspect + "--format json");
  const Json head = Json::parse(outcome.out)["heads"][1], distances = head["by_distance"];
  CHECK(head["position_term"] == "local");
  CHECK(distances[3]["attention"] > 0);
  CHECK(distances[4]["attention"] == 0);
  CHECK(distances[4]["positional"].is_null());
  succeeded(directory, inspect + "-o page.html");
}

TEST_CASE("colors of gates reach from 0 to 1, also if a map of a sum has another name") {
  const TemporaryDirectory& directory = trained();
  for (const std::string encoding : {"cope:positions=5", "'sum:of=(cope,rope)'"}) {
    CAPTURE(encoding);
    succeeded(directory, "inspect out last_x_retrieval " + encoding + " -o gates.html");
    const std::string page = read_whole(directory / "gates.html"),
                      tag = "<script type=\"application/json\" id=\"page\">";
    const size_t begin = page.find(tag) + tag.size();
    const Json data = Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
    int gates = 0;
    for (const Json& section : data["sections"]) {
      for (const Json& plot : section["plots"]) {
        if (!plot["title"].get<std::string>().ends_with("gate")) continue;
        CHECK(plot["signals"]["domain"] == Json({0, 1}));
        ++gates;
      }
    }
    CHECK(gates == 2);
  }
}

TEST_CASE("inspect prints every format and refuses unknown names") {
  const TemporaryDirectory& directory = trained();
  SECTION("a table shows one query, and a page shows all") {
    CHECK(
        contains(posbench_command(directory, "inspect out last_x_retrieval sinusoidal").out, "position-position"));
    const Outcome console = posbench_command(directory, "inspect out last_x_retrieval cope:positions=5 --query 2");
    CHECK(contains(console.out, "layer 0, head 1, query 2 "));
    succeeded(directory, "inspect out last_x_retrieval dape -o page.html");
    CHECK(contains(read_whole(directory / "page.html"), "Layer 0: bias after the network"));
    succeeded(directory, "inspect out last_x_retrieval alibi --length 400 -o long.html");
    const std::string page = read_whole(directory / "long.html");
    CHECK(contains(page, "Layer 0: positional part of query"));
    CHECK_FALSE(contains(page, "Layer 0, head 0: score"));
    CHECK(contains(page, "The maps of all queries are shown for up to 160 tokens"));
  }
  SECTION("unknown names are refused") {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"nowhere last_x_retrieval cope:positions=5", "nowhere does not exist, expected a run directory"},
        {"out flip_flop cope:positions=5", "no model of 'cope:positions=5' on 'flip_flop' with seed 0"},
        {"out last_x_retrieval cope", "no model of 'cope' on 'last_x_retrieval' with seed 0"},
        {"out last_x_retrieval none --seed 7", "no model of 'none' on 'last_x_retrieval' with seed 7"},
        {"out last_x_retrieval none --split ood", "task 'last_x_retrieval' has no split 'ood'"},
        {"out last_x nope", "unknown task 'last_x'; did you mean 'last_x_retrieval'?"},
        {"out last_x_retrieval none --query 100000", "--query is 100000, expected a position from 0 to "},
        {"out last_x_retrieval none --length 3", "distance 0..7 needs more than 3 items"},
        {"out last_x_retrieval none --length 3 --over 2", "distance 0..7 needs more than 3 items"},
    };
    for (const auto& [wrong, reason] : cases) {
      CAPTURE(wrong);
      CHECK(contains(refusal(directory, "inspect " + wrong), reason));
    }
    std::filesystem::create_directories(directory / "damaged/models");
    directory.write("damaged/models/last_x_retrieval-none-0.safetensors", "damaged");
    CHECK(contains(refusal(directory, "inspect damaged last_x_retrieval none"), "truncated"));
  }
}

TEST_CASE("an inspection over many samples prints means in every format") {
  const TemporaryDirectory& directory = trained();
  SECTION("the means agree with the equation, and the count of right answers with the report") {
    const Outcome outcome =
        succeeded(directory, "inspect out last_x_retrieval alibi --over 8 --split ood_length --format json");
    const Json json = Json::parse(outcome.out);
    CHECK(json["total"] == 8);
    const Json report = read_json(directory / "out/report.json");
    for (const Json& experiment : report["experiments"]) {
      if (experiment["encoding"] != "alibi" || experiment["task"] != "last_x_retrieval") continue;
      for (const Json& split : experiment["splits"]) {
        if (split["name"] == "ood_length") CHECK(json["correct"] == split["token"]["correct"]);
      }
    }
    REQUIRE(json["heads"].size() == 2);
    const Json& head = json["heads"][1];
    CHECK(head["by_distance"][5]["positional"].get<double>() == Approx(-5 * std::exp2(-8)).margin(1e-5));
    const Json& right = head["right_key"];
    CHECK(right["attention"].get<double>() + right["nearer"].get<double>() + right["farther"].get<double>() ==
          Approx(1).margin(1e-4));
  }
  SECTION("every format has the means") {
    const std::string over = "inspect out last_x_retrieval cope:positions=5 --over 4 ";
    CHECK(contains(posbench_command(directory, over).out, "right key"));
    succeeded(directory, over + "-o over.html");
    const Outcome unknown = posbench_command(directory, "inspect out parity_check none --over 4");
    CHECK(contains(unknown.out, "the right key is unknown"));
    CHECK(contains(refusal(directory, over + "--example 3"), "--example excludes --over"));
    CHECK(contains(refusal(directory, "inspect out last_x_retrieval none --over 0"),
                   "'0' is not a number from 1 to"));
  }
}

TEST_CASE("an inspection over many samples loops through the layers as often as the evaluation") {
  const TemporaryDirectory directory;
  succeeded(
      directory,
      "run --profile smoke -t last_x_retrieval -e alibi --set evaluation.loops=3 --set evaluation.sequences=128 -q -o out --save-models");
  const Json report = read_json(directory / "out/report.json");
  for (const Json& split : report["experiments"][0]["splits"]) {
    const std::string sequences = std::to_string(split["sequences"].get<int>());
    const Outcome outcome = succeeded(directory, "inspect out last_x_retrieval alibi --format json --over " +
                                                     sequences + " --split " + split["name"].get<std::string>());
    const Json inspected = Json::parse(outcome.out);
    CHECK(inspected["total"] == split["token"]["total"]);
    CHECK(inspected["correct"] == split["token"]["correct"]);
  }
}
