// Samples that go out, answers and reports that come back: `export`, `score` and `run --trace-loss`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/exchange/array_file.h"
#include "harness/exchange/sample_set.h"
#include "harness/runs/loss_trace.h"
#include "harness/runs/suite.h"
#include "results/json/json.h"
#include "results/reports/report_json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

std::vector<Json> read_lines(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
  return lines;
}

using Ints = std::vector<int>;

/// A small run with saved models.
void run_two_encodings(const TemporaryDirectory& directory) {
  succeeded(directory,
            "run --profile smoke -t last_x_retrieval -e cope,randomized -s 3, --save-models "
            "-q -o run");
}

std::vector<std::string> splits_of(const TemporaryDirectory& directory) {
  std::vector<std::string> names;
  const Report report = read_report(directory / "run/report.json");
  for (const SplitBaseline& split : report.tasks.at(0).splits) names.push_back(split.name);
  return names;
}

/// The answers of a saved model to all splits; their files.
std::string forward_all(const TemporaryDirectory& directory, const std::string& encoding) {
  std::string files;
  const auto sequences = read_report(directory / "run/report.json").experiments.at(0).splits.at(0).sequences;
  for (const std::string& split : splits_of(directory)) {
    const std::string file = encoding + "-" + split + ".safetensors";
    const Outcome done =
        posbench_command(directory, "export run last_x_retrieval " + encoding + " -s 3 --split " + split + " -n " +
                                        std::to_string(sequences) + " -o " + file);
    CAPTURE(done.error);
    REQUIRE(done.code == 0);
    files += " " + file;
  }
  return files;
}

}  // namespace

TEST_CASE("exported samples equal those of a run") {
  const TemporaryDirectory directory;
  const auto [task, purpose] = GENERATE(table<std::string, std::string>({{"flip_flop:length=32", "train"},
                                                                         {"last_x_retrieval", "test:ood_length"},
                                                                         {"addition", "validation"},
                                                                         {"minesweeper", "test:ood_both"},
                                                                         {"dyck", "train"}}));
  const Outcome out = succeeded(
      directory, "export " + task + " --purpose " + purpose + " -s 5 --first 7 -n 20 --manifest about.json");
  succeeded(directory, "export " + task + " --purpose " + purpose + " -s 5 --first 7 -n 20 -o x.safetensors");
  const std::vector<Json> lines = read_lines(out.out);
  REQUIRE(lines.size() == 20);
  const std::string bytes = read_whole(directory / "x.safetensors");
  const ArrayFile file = parse_arrays(bytes, "x.safetensors");
  const SampleSet set = read_manifest(read_json(directory / "about.json"), "about.json");
  CHECK(read_whole(directory / "about.json") == read_whole(directory / "x.safetensors.manifest.json"));
  const SampleStream samples = set.stream();
  const auto row = [&](const char* name, std::int64_t n, size_t size) {
    const auto found = file.arrays.find(name);
    Ints values;
    if (found == file.arrays.end()) return values;
    for (size_t t = 0; t < size; ++t)
      values.push_back(static_cast<int>(found->second.integer(n * found->second.shape[1] + static_cast<int>(t))));
    return values;
  };
  for (int n = 0; n < 20; ++n) {
    const auto [e, length] = samples(7 + n);
    const Json& line = lines[n];
    CHECK(line["index"] == 7 + n);
    CHECK(line["length"] == length);
    CHECK(file.arrays.at("index").integer(n) == 7 + n);
    CHECK(file.arrays.at("length").integer(n) == length);
    const std::pair<const char*, const Ints&> parts[] = {
        {"tokens", e.tokens},           {"targets", e.targets},
        {"segments", e.segments},       {"digit_positions", e.digit_positions},
        {"scored_positions", e.scored}, {"distances", e.distances},
        {"candidates", e.candidates}};
    for (const auto& [name, values] : parts) {
      CAPTURE(name);
      CHECK(line[name].get<Ints>() == values);
      CHECK(row(name, n, values.size()) == values);
    }
    CHECK(line.contains("coordinates") == !e.coordinates.empty());
    CHECK(file.arrays.contains("coordinates") == !e.coordinates.empty());
    for (size_t a = 0; a < e.coordinates.size(); ++a) {
      CHECK(line["coordinates"][a].get<Ints>() == e.coordinates[a]);
      const ArrayView& array = file.arrays.at("coordinates");
      REQUIRE(array.shape.size() == 3);
      const std::int64_t first = (n * array.shape[1] + static_cast<int>(a)) * array.shape[2];
      for (size_t t = 0; t < e.tokens.size(); ++t)
        CHECK(array.integer(first + static_cast<int>(t)) == e.coordinates[a][t]);
    }
  }
}

TEST_CASE("the answers of a saved model give the report of its run, with equal counts") {
  const TemporaryDirectory directory;
  run_two_encodings(directory);
  const std::string files = forward_all(directory, "cope") + forward_all(directory, "randomized");
  const Outcome done = posbench_command(directory, "score" + files + " -o scored.json");
  CAPTURE(done.error);
  REQUIRE(done.code == 0);
  const Report run = read_report(directory / "run/report.json"), scored = read_report(directory / "scored.json");
  CHECK(scored.tasks == run.tasks);
  REQUIRE(scored.experiments.size() == run.experiments.size());
  for (size_t n = 0; n < run.experiments.size(); ++n) {
    CHECK(scored.experiments[n].id == run.experiments[n].id);
    CHECK(scored.experiments[n].parameters == run.experiments[n].parameters);
    REQUIRE(scored.experiments[n].splits.size() == run.experiments[n].splits.size());
    for (size_t i = 0; i < run.experiments[n].splits.size(); ++i) {
      const SplitResult& split = scored.experiments[n].splits[i];
      CHECK(split.loss.value_or(0) > 0);
      CHECK(split == run.experiments[n].splits[i]);
    }
  }
  succeeded(directory, "report run scored.json -o page.html");
  succeeded(directory, "compare run scored.json");
}

TEST_CASE("exported logits and maps belong to their samples, and attention is the softmax of the scores") {
  const TemporaryDirectory directory;
  run_two_encodings(directory);
  const auto exported = [&](const std::string& range, const std::string& file) {
    const Outcome done =
        posbench_command(directory, "export run last_x_retrieval cope -s 3 --maps " + range + " -o " + file);
    CAPTURE(done.error);
    REQUIRE(done.code == 0);
    return read_whole(directory / file);
  };
  const std::string all_bytes = exported("-n 6", "all.safetensors");
  const ArrayFile all = parse_arrays(all_bytes, "all.safetensors");
  for (int first = 0; first < 6; ++first) {
    const std::string bytes = exported(fmt::format("--first {} -n 1", first), "one.safetensors");
    const ArrayFile one = parse_arrays(bytes, "one.safetensors");
    CHECK(one.arrays.at("index").integer(0) == first);
    CHECK(all.arrays.at("index").integer(first) == first);
    const ArrayView& logits = all.arrays.at("logits");
    CHECK(one.arrays.at("logits").number(0) == logits.number(first * logits.shape[1] * logits.shape[2]));
    const ArrayView &scores = one.arrays.at("scores"), &attention = one.arrays.at("attention");
    const std::int64_t maps = scores.shape[1] * scores.shape[2], T = scores.shape[3];
    const std::int64_t longest = all.arrays.at("scores").shape[3];
    for (std::int64_t map = 0; map < maps; ++map) {
      const std::int64_t row = (map * T + T - 1) * T;  // the last query
      double sum = 0;
      for (std::int64_t j = 0; j < T; ++j) sum += std::exp(scores.number(row + j));
      for (std::int64_t j = 0; j < T; ++j) {
        CHECK(attention.number(row + j) == Approx(std::exp(scores.number(row + j)) / sum).epsilon(1e-4));
        const std::int64_t of_all = ((first * maps + map) * longest + T - 1) * longest + j;
        CHECK(all.arrays.at("scores").number(of_all) == scores.number(row + j));
        CHECK(all.arrays.at("attention").number(of_all) == attention.number(row + j));
      }
    }
  }
}

TEST_CASE("answers of another program's model become a report that can be merged with ours") {
  const TemporaryDirectory directory;
  run_two_encodings(directory);
  std::string files;
  for (const std::string& split : splits_of(directory)) {
    succeeded(directory, "export last_x_retrieval --profile smoke -s 3 --purpose test:" + split + " -n 8 -o " +
                             split + ".jsonl");
    std::string answers;
    for (const Json& line : read_lines(read_whole(directory / (split + ".jsonl")))) {
      Ints ids;
      for (const int t : line["scored_positions"].get<Ints>())
        ids.push_back(line["targets"][static_cast<size_t>(t)]);
      answers.insert(0, Json{{"index", line["index"]}, {"answers", ids}}.dump() + "\n");  // in another order
    }
    directory.write(split + ".answers.jsonl", answers);
    Json manifest = read_json(directory / (split + ".jsonl.manifest.json"));
    manifest["model"] = {{"parameters", 7}, {"description", "knows it all"}};
    directory.write(split + ".answers.jsonl.manifest.json", manifest.dump());
    files += " " + split + ".answers.jsonl";
  }
  const Outcome done = posbench_command(directory, "score" + files + " --name oracle -o oracle.json");
  CAPTURE(done.error);
  REQUIRE(done.code == 0);
  const Report report = read_report(directory / "oracle.json");
  REQUIRE(report.experiments.size() == 1);
  const ExperimentResult& e = report.experiments[0];
  CHECK(e.id.encoding == "oracle");
  CHECK(e.parameters == 7);
  CHECK(e.description == "knows it all");
  for (const SplitResult& split : e.splits) CHECK((split.token.correct == split.token.total && !split.loss));
  CHECK_FALSE(report.config.contains("training"));
  const Outcome beside = succeeded(directory, "report run oracle.json");
  CHECK(beside.out.find("oracle") != beside.out.npos);
  for (const char* file : {"r.html", "r.csv", "r.jsonl", "r.JSON"}) {
    CHECK(refusal(directory, fmt::format("score{} --name oracle -o {}", files, file)) ==
          fmt::format("posbench: '{}' does not end in .json, the format of reports\n", file));
  }
  Json failed = read_json(directory / (splits_of(directory).front() + ".jsonl.manifest.json"));
  failed["model"] = {{"name", "oracle"}, {"status", "failed"}, {"reason", "out of memory"}};
  directory.write("failed.manifest.json", failed.dump());
  for (const std::string& all : {files + " failed.manifest.json", " failed.manifest.json" + files}) {
    const Outcome both = posbench_command(directory, "score" + all + " --name oracle -o both.json");
    CHECK(both.code == 2);
    CHECK_THAT(both.error, ContainsSubstring("did not finish training, so this is its only file; remove it or '"));
  }
  Json much = failed;
  much["count"] = 1'000'000'000'000;
  much["model"] = {{"name", "oracle"}};
  directory.write("much.jsonl.manifest.json", much.dump());
  directory.write("much.jsonl", "{\"index\": 0, \"answers\": [0]}\n");
  const Outcome missing = posbench_command(directory, "score much.jsonl -o both.json");
  CHECK(missing.code == 2);
  CHECK(contains(missing.error, "sample 1 is missing; expected 0 to 999999999999"));
  failed["count"] = 777;
  failed["model"]["name"] = "other";
  directory.write("other.manifest.json", failed.dump());
  for (const std::string& split : splits_of(directory)) {
    const std::filesystem::path path = directory / (split + ".answers.jsonl.manifest.json");
    Json manifest = read_json(path);
    manifest["model"] = {{"name", "oracle"}};
    directory.write(path.filename(), manifest.dump());
  }
  const Outcome two = posbench_command(directory, "score other.manifest.json" + files + " -o both.json");
  CAPTURE(two.error);
  REQUIRE(two.code == 1);
  CHECK(read_report(directory / "both.json").config.at("evaluation").at("sequences") == 8);
  const Outcome again = posbench_command(directory, "check oracle.json");
  CHECK(again.code == 2);
  CHECK(contains(again.error, "is not the report of a run: its models were trained elsewhere"));
  CHECK_THAT(refusal(directory, "compare run oracle.json --match cope=oracle"),
             ContainsSubstring("--allow-different-budget"));
  CHECK(posbench_command(directory, "compare run oracle.json --match cope=oracle --allow-different-budget").code ==
        0);
}

/// Has exported three samples of even_pairs to x.jsonl.
class Exported {
 public:
  Exported() {
    REQUIRE(posbench_command(directory, "export even_pairs --purpose test:in_distribution -n 3 -o x.jsonl").code ==
            0);
    about = read_json(directory / "x.jsonl.manifest.json");
  }
  /// Scores `answers` with `manifest`, checks that they are refused, and returns the message.
  std::string refused(const std::string& answers, const Json& manifest, const std::string& file = "a.jsonl",
                      const std::string& flags = "--name m") const {
    directory.write(file, answers);
    directory.write(file + ".manifest.json", manifest.dump());
    const Outcome done = posbench_command(directory, "score " + file + " " + flags + " -o report.json");
    CHECK(done.code == 2);
    CHECK(done.out.empty());
    CHECK(std::count(done.error.begin(), done.error.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(directory / "report.json"));
    return done.error.substr(0, done.error.size() - 1);
  }

  const TemporaryDirectory directory;
  Json about;
};

TEST_CASE_METHOD(Exported, "answers that cannot be scored are refused in one line, and nothing is written") {
  const auto line = [](int index, const std::string& rest) {
    return "{\"index\": " + std::to_string(index) + ", " + rest + "}\n";
  };
  const std::string one = "\"answers\": [1]";
  const std::string good = line(0, one) + line(1, one) + line(2, one);
  CHECK(refused(line(0, one) + line(2, one), about) == "posbench: a.jsonl: sample 1 is missing; expected 0 to 2");
  CHECK(refused(good + line(1, one), about) == "posbench: a.jsonl: sample 1 occurs in it twice");
  CHECK(refused(good + line(3, one), about) ==
        "posbench: a.jsonl: sample 3 is not in the range 0 to 2 of its manifest");
  CHECK(refused(line(0, "\"answers\": []") + line(1, one) + line(2, one), about) ==
        "posbench: a.jsonl: sample 0 has 1 scored positions, and answers for 0");
  CHECK_THAT(refused(line(0, "\"answers\": [99]") + line(1, one) + line(2, one), about),
             ContainsSubstring("the answer at scored position 0 is 99, expected 0 to"));
  CHECK(refused(line(0, "\"logits\": [[1, 2]]") + line(1, one), about) ==
        "posbench: a.jsonl:2: expected 'answers' in every line, or 'logits' in every line");
  CHECK(refused(good.substr(0, good.size() - 5), about).starts_with("posbench: a.jsonl:3: not JSON: "));
  CHECK(contains(refused(good, about, "a.jsonl", ""), "model.name is missing"));
  for (const std::string file : {"a.jsonl", "a.JSONL"}) {  // the other splits are missing
    CHECK(contains(refused(good, about, file), "split 'ood_"));
    CHECK(contains(refused(good.substr(0, good.size() - 1), about, file), "split 'ood_"));
  }
  Json other = about;
  other["task_version"] = 99;
  CHECK(contains(refused(good, other), "task_version is 99, but 'even_pairs' has version"));
  other = about;
  other["purpose"] = "train";
  CHECK(contains(refused(good, other), "expected answers to test samples"));
  other = about;
  other.erase("config");
  CHECK(contains(refused(good, other), "config is missing"));
  CHECK(contains(refused("PK\3\4 and no more", about, "a.npz"), "a.npz: .npz is no longer read"));
  CHECK(refused(good.substr(0, good.size() - 1) + std::string("\0x", 2), about) ==
        "posbench: a.jsonl:3: not JSON: it contains a zero byte");
}

TEST_CASE_METHOD(Exported, "logits that cannot be scored are refused in one line, and nothing is written") {
  const auto refused_logits = [&](const std::vector<float>& logits) {
    const auto size = static_cast<std::int64_t>(logits.size() / 3);
    ArrayWriter file(directory / "b.safetensors",
                     {{"index", Scalar::int64, {3}}, {"logits", Scalar::float32, {3, 1, size}}}, {});
    file.append(0, std::vector<std::int64_t>{0, 1, 2});
    file.append(1, logits);
    file.finish();
    return refused(read_whole(directory / "b.safetensors"), about, "b.safetensors");
  };
  const auto vocabulary = about["vocabulary"].get<size_t>();
  for (const auto& [value, name] :
       {std::pair(std::nanf(""), "nan"), std::pair(HUGE_VALF, "inf"), std::pair(-HUGE_VALF, "-inf")}) {
    for (const bool all : {true, false}) {
      std::vector<float> logits(3 * vocabulary, all ? value : 1);
      logits.front() = value;
      CHECK(refused_logits(logits) ==
            fmt::format("posbench: b.safetensors: sample 0: a logit at scored position 0 is {}, expected a finite "
                        "number",
                        name));
    }
  }
  CHECK_THAT(refused_logits(std::vector<float>(6)), ContainsSubstring("has 2 logits at a position, expected"));
}

TEST_CASE("the losses of a traced run are those of its learning curve") {
  const TemporaryDirectory directory;
  const std::string flags =
      "run --profile smoke -t flip_flop -e cope --learning-rates 1e-3,3e-3 --trace-loss -q --checkpoint-every 0 -o ";
  succeeded(directory, flags + "whole");
  const std::string text = read_whole(directory / "whole/losses/flip_flop-cope-0.csv");
  CHECK(text.starts_with("learning_rate,step,loss\n"));
  const ExperimentResult e = read_report(directory / "whole/report.json").experiments.at(0);
  CHECK(std::count(text.begin(), text.end(), '\n') == 1 + 2 * e.steps);

  std::istringstream lines(text);
  std::string line;
  double sum = 0;
  const int from = e.learning_curve.size() > 1 ? e.learning_curve[e.learning_curve.size() - 2].step : 0;
  while (std::getline(lines, line)) {
    double rate = 0, loss = 0;
    int step = 0;
    if (std::sscanf(line.c_str(), "%lf,%d,%lf", &rate, &step, &loss) == 3 && rate == e.learning_rate &&
        step > from)
      sum += loss;
  }
  CHECK(sum / (e.steps - from) == Approx(*e.final_loss).epsilon(1e-12));
}

TEST_CASE("a resumed trace continues after the steps of the checkpoint") {
  const TemporaryDirectory directory;
  const RunConfig config = make_config({.profile = "smoke"});
  const TaskSetup task = setup_task(config, TaskSpec::parse("flip_flop"));
  const Model model = make_model(Spec::parse("none"), task.model_config);
  LearningRateSweep sweep(model, config.training, 0);
  const auto path = directory / "x.csv";
  directory.write("x.csv", "of another run\n");
  start_trace(path, sweep);
  for (sweep.state.step = 1; sweep.state.step <= 3; ++sweep.state.step) {
    sweep.state.loss = sweep.state.step / 4.0;
    add_to_trace(path, sweep);
  }
  sweep.state.step = 2;
  start_trace(path, sweep);
  sweep.state.step = 3;
  sweep.state.loss = 7;
  add_to_trace(path, sweep);
  const std::string rate = fmt::format("{}", sweep.state.learning_rate);
  CHECK(read_whole(path) ==
        "learning_rate,step,loss\n" + rate + ",1,0.25\n" + rate + ",2,0.5\n" + rate + ",3,7\n");
}
