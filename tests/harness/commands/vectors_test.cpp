// Reference vectors: the arrays of `export ENCODING` follow from its inputs, its formats have the same values, and
// `check SPEC --against FILE` finds what differs.
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "encodings/registry.h"
#include "harness/exchange/array_file.h"
#include "results/json/json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

Json vectors(const TemporaryDirectory& directory, const std::string& arguments) {
  const Outcome outcome = succeeded(directory, "export " + arguments);
  return parse_json(outcome.out, "output");
}

/// Writes a file with some arrays and compares it.
Outcome against(const TemporaryDirectory& directory, const std::string& arguments, const Json& arrays) {
  directory.write("theirs.json", arrays.dump());
  return posbench_command(directory, "check " + arguments + " --against theirs.json");
}

double at(const Json& array, const std::vector<size_t>& index) {
  const Json* value = &array;
  for (const size_t n : index) value = &value->at(n);
  return value->get<double>();
}

/// Checks that scores are the products of rotated queries and keys over sqrt(D).
void check_products(const Json& arrays) {
  const Json &q = arrays["rotated_q"], &k = arrays["rotated_k"], &scores = arrays["scores"];
  for (size_t h = 0; h < q.size(); ++h) {
    for (size_t i = 0; i < q[h].size(); ++i) {
      for (size_t j = 0; j <= i; ++j) {
        double sum = 0;
        for (size_t e = 0; e < q[h][i].size(); ++e) sum += at(q, {h, i, e}) * at(k, {h, j, e});
        CHECK(std::abs(sum / std::sqrt(q[h][i].size()) - at(scores, {h, i, j})) < 1e-12);
      }
    }
  }
}

}  // namespace

TEST_CASE("vectors rotate queries and keys by angles that are position times inverse frequency") {
  const TemporaryDirectory directory;
  const std::string pairing = GENERATE("interleaved", "half_split");
  const Json json = vectors(directory, "rope:pairing=" + pairing + " --positions 0,1,5,1000.5 --head-width 6");
  const Json& arrays = json["arrays"];
  for (size_t n = 0; n < 3; ++n) {
    const double w = std::pow(10000, -static_cast<double>(n) / 3);
    CHECK(std::abs(at(arrays["inv_freq"], {n}) / w - 1) < 1e-12);
    CHECK(std::abs(at(arrays["angles"], {3, n}) - 1000.5 * w) < 1e-9);
    CHECK(std::abs(at(arrays["cos"], {3, n}) - std::cos(1000.5 * w)) < 1e-9);
    const size_t a = pairing == "interleaved" ? 2 * n : n, b = pairing == "interleaved" ? 2 * n + 1 : n + 3;
    const double angle = 5 * w, first = at(arrays["q"], {1, 2, a}), second = at(arrays["q"], {1, 2, b});
    CHECK(std::abs(at(arrays["rotated_q"], {1, 2, a}) - first * std::cos(angle) + second * std::sin(angle)) <
          1e-12);
    CHECK(std::abs(at(arrays["rotated_q"], {1, 2, b}) - first * std::sin(angle) - second * std::cos(angle)) <
          1e-12);
  }
  check_products(arrays);
  CHECK(contains(json["encodings"][0]["equation"].get<std::string>(), "R(p) rotates"));
  CHECK(json["axes"]["rotated_q"] == Json({"head", "position", "channel"}));
}

TEST_CASE("vectors have the attention factor of interpolated, and the frequencies of the length") {
  const TemporaryDirectory directory;
  const std::string spec =
      "interpolated:method=longrope,scale=4,original=8,long_factor=3/5 --head-width 4 --length ";
  const Json shorter = vectors(directory, spec + "8")["arrays"], longer = vectors(directory, spec + "9")["arrays"];
  CHECK(std::abs(at(longer["attention_factor"], {0}) - std::sqrt(1 + std::log(4) / std::log(8))) < 1e-12);
  CHECK(std::abs(at(shorter["inv_freq"], {1}) - 0.01) < 1e-12);
  CHECK(std::abs(at(longer["inv_freq"], {0}) - 1.0 / 3) < 1e-12);
  CHECK(std::abs(at(longer["inv_freq"], {1}) - 0.01 / 5) < 1e-12);
  check_products(longer);
}

TEST_CASE("vectors are the arrays that an encoding has, for every encoding and variant") {
  const TemporaryDirectory directory;
  for (const std::string& name : encodings().names()) {
    if (name.starts_with("test_")) continue;  // of other tests
    std::vector<std::string> specs{name};
    for (const std::string& options : encodings().find(name).info.variants) specs.push_back(name + ":" + options);
    for (const std::string& spec : specs) {
      CAPTURE(spec);
      const Json arrays = vectors(directory, "'" + spec + "' --heads 4 --head-width 4 --length 7")["arrays"];
      CHECK(arrays["scores"].size() == 4);
      CHECK(arrays["scores"][0].size() == 7);
      CHECK(arrays["output"][3][6].size() == 4);
      CHECK(arrays.contains("inv_freq") == arrays.contains("angles"));
    }
  }
  const auto has = [&](const std::string& spec, const std::string& array) {
    return vectors(directory, "'" + spec + "'")["arrays"].contains(array);
  };
  CHECK(has("alibi", "bias"));
  CHECK(has("alibi", "distances"));
  CHECK_FALSE(has("rope", "bias"));
  CHECK_FALSE(has("none", "inv_freq"));
  CHECK(has("xpos", "key_cos"));
  CHECK(has("sinusoidal", "embedded"));
  CHECK(has("randomized:base=rope", "rotated_k"));
  CHECK(has("t5_bias", "parameters.t5_bias.table"));
  CHECK(has("cope", "inspect.gate"));
}

TEST_CASE("vectors have the same values as JSON and safetensors, for the same seed") {
  const TemporaryDirectory directory;
  const std::string command = "export t5_bias --heads 3 -s 5 -o ";
  for (const std::string file : {"a.json", "b.safetensors"}) succeeded(directory, command + file);
  const Json json = read_json(directory / "a.json");
  const std::string file = "b.safetensors";
  const std::string bytes = read_whole(directory / file);
  const ArrayFile read = parse_arrays(bytes, file);
  CHECK(read.arrays.size() == json["arrays"].size());
  CHECK(read.arrays.at("bias").type() == "float64");
  CHECK(read.arrays.at("tokens").type() == "int64");
  CHECK(read.arrays.at("bias").number(3) == 0);  // key 3 of query 0
  CHECK(read.arrays.at("bias").number(16) == at(json["arrays"]["bias"], {0, 1, 0}));
  Json manifest = json;
  manifest.erase("arrays");
  CHECK(read_json(directory / (file + ".manifest.json")) == manifest);
  const Outcome same = succeeded(directory, "check t5_bias --heads 3 -s 5 --against " + file);
  CHECK_FALSE(contains(same.out, "DIFFERENT"));
  const Outcome other = posbench_command(directory, "check t5_bias --heads 3 -s 6 --against " + file);
  CHECK(other.code == 1);
  CHECK(contains(other.out, "DIFFERENT"));
}

TEST_CASE("vectors are computed with the inputs of a file") {
  const TemporaryDirectory directory;
  const Json drawn = vectors(directory, "alibi -s 3")["arrays"];
  directory.write("inputs.json", Json{{"q", drawn["q"]}, {"k", drawn["k"]}}.dump());
  const Json given = vectors(directory, "alibi -s 4 --inputs inputs.json")["arrays"];
  CHECK(given["scores"] == drawn["scores"]);
  CHECK(given["output"] != drawn["output"]);  // v is of seed 4
  directory.write("inputs.json", Json{{"parameters.t5_bias.table", Json(32, Json{0.5, 2})}}.dump());
  const Json learned = vectors(directory, "t5_bias --inputs inputs.json")["arrays"];
  CHECK(at(learned["bias"], {0, 5, 2}) == 0.5);
  CHECK(at(learned["bias"], {1, 5, 2}) == 2);
}

TEST_CASE(
    "check --against finds the first difference and its size, and compares no keys that a causal model hides") {
  const TemporaryDirectory directory;
  const Json arrays = vectors(directory, "rope")["arrays"];
  Json theirs{{"scores", arrays["scores"]}, {"inv_freq", arrays["inv_freq"]}};
  theirs["scores"][0][2][3] = 100;
  theirs["inv_freq"][3] = at(arrays["inv_freq"], {3}) + 5e-6;
  CHECK(against(directory, "rope", theirs).code == 0);
  CHECK(against(directory, "rope --attention bidirectional --arrays scores", theirs).code == 1);
  const Outcome strict = against(directory, "rope --tolerance 1e-6 --json", theirs);
  CHECK(strict.code == 1);
  const Json rows = Json::parse(strict.out)["tables"][0];
  CHECK(rows[0] == Json{{"array", "inv_freq"},
                        {"verdict", "DIFFERENT"},
                        {"largest difference", "5.0e-06"},
                        {"values that differ", "1 of 4"},
                        {"first difference", "pair 3: theirs 0.001005, reference 0.001"}});
  CHECK(rows[1] == Json{{"array", "scores"},
                        {"verdict", "same"},
                        {"largest difference", "0.0e+00"},
                        {"values that differ", "0 of 272"},
                        {"first difference", "-"}});
  theirs["scores"][1][9][4] = 100;
  const Outcome outcome = against(directory, "rope --json", theirs);
  CHECK(outcome.code == 1);
  CHECK(contains(outcome.out, "head 1, query 9, key 4: theirs 100,"));
}

TEST_CASE("check --against allows differences in proportion to values above 1") {
  const TemporaryDirectory directory;
  const std::string spec = "rope --positions 0,1000";
  Json theirs{{"angles", vectors(directory, spec)["arrays"]["angles"]}};
  const double angle = at(theirs["angles"], {1, 0});
  REQUIRE(angle == 1000);
  theirs["angles"][1][0] = angle * (1 + 5e-6);
  CHECK(against(directory, spec, theirs).code == 0);
  theirs["angles"][1][0] = angle * (1 + 5e-5);
  CHECK(against(directory, spec, theirs).code == 1);
}

TEST_CASE("check --against compares scores of hidden keys, which are null in JSON") {
  const TemporaryDirectory directory;
  const std::string spec = "alibi:sides=split --attention bidirectional";
  const Json arrays = vectors(directory, spec)["arrays"];
  CHECK(arrays["scores"][0][3][5].is_null());
  Json theirs{{"scores", arrays["scores"]}};
  CHECK(against(directory, spec, theirs).code == 0);
  theirs["scores"][0][3][5] = -1e4;
  CHECK(against(directory, spec, theirs).code == 1);
}

TEST_CASE("check --against refuses files that do not fit, in one line with exit code 2") {
  const TemporaryDirectory directory;
  const Json inv_freq = vectors(directory, "rope")["arrays"]["inv_freq"];
  for (const auto& [arguments, arrays, part] : {
           std::tuple<const char*, Json, const char*>{"rope --arrays inv_freq,cos",
                                                      {{"inv_freq", inv_freq}},
                                                      "theirs.json has no array 'cos', but inv_freq\n"},
           {"rope --head-width 16", {{"inv_freq", inv_freq}}, "'inv_freq' has shape (4), expected (8) for pair\n"},
           {"rope", {{"freqs", {1}}}, "has the array 'freqs', which rope does not have; select some of q, k, "},
           {"rope", Json::object(), "has no arrays, expected some of"},
           {"rope", {{"cos", {{1, 2}, {3}}}}, "expected lists of equal length"},
           {"rope", {{"cos", {"a"}}}, "expected a number, or nested lists"},
       }) {
    directory.write("theirs.json", arrays.dump());
    CHECK_THAT(refusal(directory, "check " + std::string(arguments) + " --against theirs.json"),
               ContainsSubstring(part));
  }
  CHECK_THAT(refusal(directory, "check rope --against no.safetensors"), ContainsSubstring("no.safetensors"));
  CHECK_THAT(refusal(directory, "check --against theirs.json"),
             ContainsSubstring("--against needs one encoding, as in 'posbench check"));
}

TEST_CASE("export ENCODING refuses options that do not fit, in one line with exit code 2") {
  const TemporaryDirectory directory;
  directory.write("q.json", R"({"q": [[[1]]]})");
  directory.write("y.json", R"({"y": [1]})");
  for (const auto& [arguments, part] : {
           std::pair{"rope --split train",
                     "--split is an option of 'posbench export TASK', not of 'posbench export "
                     "ENCODING'; leave it out\n"},
           {"rope flip_flop", "the arguments do not fit 'posbench export ENCODING'"},
           {"runs/mine flip_flop", "the arguments do not fit 'posbench export RUN TASK ENCODING'"},
           {"rope -o a.txt", "does not end in .json or .safetensors"},
           {"rope --arrays bias", "unknown array 'bias', expected "},
           {"ropee", "did you mean 'rope'?"},
           {"rope --positions 1,x", "position 'x', expected a number"},
           {"rope --positions 1,1", "position 1 follows 1"},
           {"rope --positions 1,2 --length 3", "--length is 3, and --positions lists 2"},
           {"rope --longest 8", "--longest is 8, expected 16 or more"},
           {"cope --positions 1,2", "does not take its positions from outside"},
           {"learned_abs --positions 1,16", "position 16: encoding 'learned_abs' has one row"},
           {"rope --inputs q.json",
            "input 'q' has shape (1, 1, 1), expected (2, 16, 8) for head, position, channel; "},
           {"rope --inputs y.json", "unknown input 'y', expected q, k, v, x"},
       }) {
    CHECK_THAT(refusal(directory, "export " + std::string(arguments)), ContainsSubstring(part));
  }
  CHECK_FALSE(std::filesystem::exists(directory / "a.txt"));
}
