#include "harness/config/config.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/config/embedded_data.h"
#include "harness/config/names.h"
#include "harness/runs/suite.h"
#include "harness/training/task_setup.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/temporary.h"

using namespace posbench;

TEST_CASE("a flag has precedence over a file, and a file over the profile") {
  const TemporaryDirectory directory;
  const auto file =
      directory.write("config.json", R"({"training": {"steps": 7, "batch": 5}, "model": {"width": 32}})");
  const RunConfig config = make_config({.profile = "smoke", .file = file, .settings = {"training.batch=9"}});
  CHECK(config.training.batch == 9);
  CHECK(config.training.steps == 7);
  CHECK(config.model.width == 32);
  CHECK(config.model.layers == 1);  // of the profile
}

TEST_CASE("a setting for all tasks replaces the overrides of a task that were read before it, not after it") {
  const TemporaryDirectory directory;
  const auto steps = [](const RunConfig& config) {
    return std::pair{config.for_task("parity_check").training.steps, config.for_task("flip_flop").training.steps};
  };
  const std::string overrides =
      R"("overrides": {"parity_check": {"training.steps": 99, "training.batch": 3}, "flip_flop": {"training.steps": 98}})";
  for (const std::string& text :
       {"{" + overrides + R"(, "training": {"steps": 7}})", R"({"training": {"steps": 7}, )" + overrides + "}"}) {
    const auto file = directory.write("config.json", text);
    const RunConfig config = make_config({.profile = "smoke", .file = file});
    CHECK(steps(config) == std::pair{99, 98});  // in any order within a file
    const RunConfig flags = make_config({.profile = "smoke", .file = file, .settings = {"training.steps=5"}});
    CHECK(steps(flags) == std::pair{5, 5});
    CHECK(flags.for_task("parity_check").training.batch == 3);  // settings without a flag stay
    CHECK(to_json(flags)["overrides"].size() == 1);
  }
}

TEST_CASE("a file's settings and overrides replace those of its profile, name by name") {
  const TemporaryDirectory directory;
  RunConfig config =
      config_from_json(Json::parse(R"({"tasks": "all", "encodings": "none", "seeds": "1", "overrides": {
        "flip_flop": {"training.steps": 50, "training.batch": 6}, "parity_check": {"model.width": 24}}})"),
                       "profile");
  overlay(Json::parse(R"({"training": {"batch": 8}, "overrides": {"flip_flop": {"training.steps": 60}}})"), "file",
          config);
  CHECK(config.for_task("flip_flop").training.steps == 60);
  CHECK(config.for_task("flip_flop").training.batch == 8);
  CHECK(config.for_task("parity_check").model.width == 24);
}

TEST_CASE("learning rates are one number or several different ones, in every form of a configuration") {
  using Rates = std::vector<double>;
  const auto rates = [](const std::string& text) {
    return make_config({.profile = "smoke", .learning_rates = text}).training.learning_rates;
  };
  CHECK(rates("1e-3") == Rates{1e-3});
  CHECK(rates("3e-3,3e-4,1e-3") == Rates{3e-4, 1e-3, 3e-3});
  for (const char* bad : {"", "x", "1e-3,", "1e-3,2", "1e-3,0.001", "1,5e-3", "0,001"})
    CHECK_THROWS_AS(rates(bad), InputError);

  const TemporaryDirectory directory;
  for (const char* listed : {"[0.003, 1e-3]", "\"1e-3,0.003\""}) {
    const auto file = directory.write(
        "config.json", R"({"profile": "smoke", "training": {"learning_rate": )" + std::string(listed) + "}}");
    const RunConfig config = make_config({.file = file});
    CHECK(config.training.learning_rates == Rates{1e-3, 3e-3});
    CHECK(to_json(config)["training"]["learning_rate"] == "0.001,0.003");
    CHECK(make_config({.learning_rates = "0.5", .file = file}).training.learning_rates == Rates{0.5});
  }
  CHECK(to_json(make_config({.profile = "smoke"}))["training"]["learning_rate"] == 1e-3);  // a number as ever
}

TEST_CASE("a configuration that was written reads back as the same") {
  const TemporaryDirectory directory;
  const auto file = directory.write("config.json", R"({
    "profile": "smoke", "tasks": ["flip_flop:length=16", "parity_check"], "encodings": "all,-rope", "seeds": [5],
    "splits": {"flip_flop": {"mine": {"p_ignore": 0.5, "length": "8..12"}}},
    "training": {"learning_rate": [1e-3, 3e-3]},
    "overrides": {"parity_check": {"training.steps": 99, "training.learning_rate": [1e-4, 1e-5]}}})");
  const RunConfig config = make_config({.file = file});
  CHECK(config.seeds == std::vector<std::uint64_t>{5});
  CHECK(config.for_task("parity_check").training.steps == 99);
  CHECK(config.for_task("flip_flop").training.steps == 20);
  const auto again = directory.write("again.json", to_json(config).dump());
  CHECK(to_json(make_config({.file = again})) == to_json(config));
  const auto report =
      directory.write("report.json", Json{{"config", to_json(config)}, {"experiments", Json::array()}}.dump());
  CHECK(to_json(make_config({.file = report})) == to_json(config));
}

TEST_CASE(
    "a configuration that was written repeats its run, also where it omits a default that its profile changes") {
  const TemporaryDirectory directory;
  for (const auto& [profile, text] : profiles()) {
    INFO(profile);
    RunConfig config = make_config({.profile = profile});
    config.set_for_all("evaluation.grid", "0");
    config.set_for_all("training.groups", "1");
    config.splits.clear();
    const std::filesystem::path file = directory.write("config.json", to_json(config).dump());
    CHECK(to_json(make_config({.file = file})) == to_json(config));
  }
  Json part = to_json(make_config({.profile = "quick"}));
  REQUIRE(part["evaluation"].erase("grid") == 1);
  CHECK(make_config({.file = directory.write("whole.json", part.dump())}).evaluation.grid == 0);
  part["evaluation"].erase("sequences");  // then the profile has what the file lacks
  CHECK(make_config({.file = directory.write("part.json", part.dump())}).evaluation.grid ==
        make_config({.profile = "quick"}).evaluation.grid);
}

TEST_CASE("a configuration with the former name of an answer layout is still read") {
  const TemporaryDirectory directory;
  const auto file =
      directory.write("config.json", R"({"profile": "smoke", "evaluation": {"layout": "fed_back"}})");
  CHECK(make_config({.file = file}).evaluation.layout == AnswerLayout::teacher_forced);
  CHECK(to_json(make_config({.file = file}))["evaluation"]["layout"] == "teacher_forced");
}

TEST_CASE("a profile adds its settings to those of the profile that it is based on") {
  const RunConfig quick = make_config({.profile = "quick"}), modern = make_config({.profile = "modern"});
  CHECK(modern.profile == "modern");
  CHECK(texts(modern.tasks) == texts(quick.tasks));
  CHECK(modern.overrides == quick.overrides);
  CHECK(modern.model.qk_norm);
  CHECK_FALSE(quick.model.qk_norm);
  const RunConfig standard = make_config({.profile = "standard"});
  CHECK(standard.overrides ==
        quick.overrides);  // a task is trained alike in both, so their reports can be compared
  for (const std::string& task : texts(quick.tasks)) {
    CAPTURE(task);
    CHECK(std::ranges::count(texts(standard.tasks), task) == 1);
  }
}

TEST_CASE("the quick profile tests a task whose lengths the user changed by the task's splits") {
  const RunConfig config = make_config({.profile = "quick"});
  const TaskSetup own = setup_task(config, TaskSpec::parse("reverse_string:length=1..10"));
  for (size_t s = 1; s < own.tasks.size(); ++s) CHECK(own.tasks[s]->lengths().values().front() == 11);
  const TaskSetup longer = setup_task(config, TaskSpec::parse("reverse_string"));  // trained on 1 to 20
  for (size_t s = 1; s < longer.tasks.size(); ++s) CHECK(longer.tasks[s]->lengths().values().front() > 20);
}

TEST_CASE("splits of a configuration may be given for all tasks of a family") {
  const TemporaryDirectory directory;
  const auto file = directory.write("config.json", R"({"profile": "smoke", "tasks": "parity_check", "splits": {
    "chomsky/regular": {"ood_length": {"length": "41/60"}}}})");
  const RunConfig config = make_config({.file = file});
  CHECK(config.splits.size() == 4);
  CHECK(setup_task(config, TaskSpec::parse("parity_check")).tasks[1]->lengths().values() ==
        std::vector<int>{41, 60});
  CHECK(profiles().count("che") == 1);
  CHECK(make_config({.profile = "che"}).splits.size() == 15);
  const auto wrong = directory.write("wrong.json", R"({"splits": {"chomski/*": {}}})");
  CHECK_THROWS_WITH(make_config({.file = wrong}),
                    Catch::Matchers::EndsWith("'chomski/*' matches no family of tasks"));
}

TEST_CASE("a configuration adds splits to a task, and redefines those that test it") {
  const TemporaryDirectory directory;
  const auto file = directory.write("config.json", R"({"profile": "smoke", "tasks": "parity_check", "splits": {
    "parity_check": {"ood_mine": {"length": 9}, "ood_length": {"length": "41/60"}}}})");
  const TaskSetup setup = setup_task(make_config({.file = file}), TaskSpec::parse("parity_check"));
  REQUIRE(setup.splits.size() == 3);
  CHECK(setup.splits[1].name == "ood_length");
  CHECK(setup.tasks[1]->lengths().values() == std::vector<int>{41, 60});
  CHECK(setup.splits[2].name == "ood_mine");
  CHECK(setup.tasks[2]->lengths().values() == std::vector<int>{9});
}

TEST_CASE("splits of a spec may be relative to the trained lengths, and null removes one") {
  const TemporaryDirectory directory;
  const auto file =
      directory.write("config.json", R"({"profile": "smoke", "tasks": "flip_flop,flip_flop:length=64", "splits": {
    "flip_flop": {"ood_mine": {"length": "2x"}}, "flip_flop:length=64": {"ood_mine": {"length": "3x"}, "ood_dense": null}}})");
  const RunConfig config = make_config({.file = file});
  const TaskSetup of_name = setup_task(config, TaskSpec::parse("flip_flop")),
                  of_spec = setup_task(config, TaskSpec::parse("flip_flop:length=64"));
  CHECK(of_name.splits.size() == 6);
  CHECK(of_name.splits.back().options[0].second == "64");
  CHECK(of_spec.splits.size() == 5);
  CHECK(of_spec.splits.back().options[0].second == "192");
  CHECK(to_json(config_from_json(to_json(config), "test")) == to_json(config));
  CHECK(to_json(config)["splits"]["flip_flop:length=64"]["ood_dense"].is_null());
  const auto own = directory.write("own.json", R"({"profile": "smoke", "splits": {
    "flip_flop": {"at16": {"length": 16}}, "flip_flop:length=16": {"at16": null}}})");
  CHECK(setup_task(make_config({.file = own}), TaskSpec::parse("flip_flop")).splits.back().name == "at16");
  CHECK(setup_task(make_config({.file = own}), TaskSpec::parse("flip_flop:length=16")).splits.size() == 5);
  const auto empty = directory.write("empty.json", R"({"splits": {"flip_flop": {"mine": {}}}})");
  CHECK_THROWS_WITH(
      make_config({.file = empty}),
      Catch::Matchers::EndsWith("expected options that the split changes, or null, which leaves it out"));
  const auto unknown = directory.write("unknown.json", R"({"splits": {"flip_flop": {"mine": null}}})");
  CHECK_THROWS_WITH(setup_task(make_config({.file = unknown}), TaskSpec::parse("flip_flop")),
                    "task 'flip_flop' has no split 'mine' to leave out");
}

TEST_CASE("names, globs and exclusions select specs in the order given, each once") {
  using Names = std::vector<std::string>;
  CHECK(texts(select_encodings("rope,alibi,rope")) == Names{"rope", "alibi"});
  CHECK(texts(select_encodings("learned_abs:positions=16,axial=true,none")) ==
        Names{"learned_abs:positions=16,axial=true", "none"});
  CHECK(texts(select_encodings("cope:positions=0")) == Names{"cope"});  // the default
  CHECK(texts(select_tasks("parity_*,even_pairs")) == Names{"parity_check", "even_pairs"});
  const Names recall = texts(select_tasks("aspect:Recall")), others = texts(select_tasks("all,-aspect:recall"));
  CHECK(recall.size() + others.size() == tasks().names().size());
  CHECK(std::ranges::count(recall, "mqar") == 1);
  CHECK(std::ranges::count(others, "parity_check") == 1);
  CHECK(texts(select_tasks("aspect:state_tracking")) == texts(select_tasks("aspect:state tracking")));
  CHECK_THROWS_WITH(texts(select_tasks("aspect:recal")),
                    ContainsSubstring("unknown aspect 'recal'; did you mean 'recall'? (aspects: "));
  CHECK_THROWS_AS(texts(select_encodings("aspect:recall")), InputError);
  const Names all = texts(select_encodings("all")), most = texts(select_encodings("all,-rope*"));
  CHECK(most.size() < all.size());
  CHECK(std::count(most.begin(), most.end(), "rope") == 0);
  CHECK(texts(select_encodings("cope:positions=16,rope,-cope")) == Names{"rope"});
  CHECK(texts(select_encodings("cope,cope:positions=16,-cope:positions=16")) == Names{"cope"});
  CHECK(texts(select_tasks("reverse_string:length=1..10,reverse_string,parity_check,-Reverse*")) ==
        Names{"parity_check"});
}

TEST_CASE("seeds are a number of them, or a list") {
  using Seeds = std::vector<std::uint64_t>;
  CHECK(parse_seeds("3") == Seeds{0, 1, 2});
  CHECK(parse_seeds("0,5,7") == Seeds{0, 5, 7});
  CHECK(parse_seeds("5,") == Seeds{5});
  CHECK(parse_seeds("8..10") == Seeds{8, 9, 10});
  CHECK(parse_seeds("1,8..9,4") == Seeds{1, 8, 9, 4});
  for (const char* bad : {"", "0", "-1", "x", "1,1", "1.5", "3..1", "1..", "..2", "1..2..3", "2,1..3", "0..99999",
                          "99999999999999", "20000"}) {
    CHECK_THROWS_AS(parse_seeds(bad), InputError);
  }
  CHECK_THROWS_WITH(parse_seeds("1,1"),
                    "seeds '1,1': expected a number of seeds, such as 3, or different seeds up to "
                    "1000000000000, such as 0,5,7 or 8..12");
  CHECK_THROWS_WITH(
      parse_seeds("0"),
      "seeds '0': expected a number of seeds from 1 to 10000, such as 3, or seeds, such as 0,5,7 or 8..12");
}

TEST_CASE("a run directory in place of a configuration is refused, and its report named") {
  const TemporaryDirectory directory;
  const std::string folder = (directory / "").string();
  CHECK_THROWS_WITH(make_config({.file = folder}), folder + ": is a folder, expected a file");
  const std::string report = directory.write("report.json", "{}").string();
  CHECK_THROWS_WITH(make_config({.file = folder}), folder + ": is a folder, expected a file; give " + report);
}

TEST_CASE("an invalid configuration is refused in one line") {
  const TemporaryDirectory directory;
  const auto message = [&](const std::string& json) -> std::string {
    const auto file = directory.write("bad.json", json);
    try {
      make_config({.file = file});
    } catch (const InputError& error) {
      const std::string text = error.what();
      CHECK(text.find('\n') == std::string::npos);
      const size_t at = text.find("bad.json: ");
      return at == std::string::npos ? text : text.substr(at);
    }
    return "accepted";
  };
  CHECK(
      message("{\"training\": {\"step\": 5}}") ==
      "bad.json: training: unknown option 'step' of training; did you mean 'steps'? (it has steps, batch, samples, "
      "learning_rate, tuning_seeds, warm_up, decay, optimizer, momentum, weight_decay, decayed_parameters, beta1, beta2, "
      "epsilon, clip, validate_every, validation_sequences, early_stop, extend_while_gaining, "
      "validate_splits, outputs, lengths, groups, pack, pack_mask, pack_restart, rounding, reserve)");
  CHECK(message("{\"training\": {\"steps\": 0}}") ==
        "bad.json: training: steps is '0', expected an integer from 1 to 100000000");
  CHECK(message("{\"training\": 5}").ends_with("training: expected an object"));
  for (const std::string wrong : {R"("model": {"width": "64"})", R"("model": {"tied_embeddings": "true"})",
                                  R"("training": {"steps": 2.5})", R"("training": {"learning_rate": "1e-3"})",
                                  R"("model": {"norm": 1})", R"("model": {"tied_embeddings": 1})"})
    CHECK_THAT(message("{" + wrong + "}"), ContainsSubstring("expected"));
  CHECK(message("{\"trainings\": {}}").starts_with("bad.json: trainings: unknown key; did you mean 'training'?"));
  CHECK(message("{\"tasks\": []}") ==
        "bad.json: tasks: expected a list that is not empty, or comma-separated text");
  CHECK(message("{\"encodings\": [\"rop\"]}")
            .starts_with("bad.json: encodings: unknown encoding 'rop'; did you mean 'rope'?"));
  CHECK(message("{\"splits\": {\"flip_flop\": {\"in_distribution\": {}}}}") ==
        "bad.json: splits.flip_flop: 'in_distribution' is what is trained on; give the task options instead");
  CHECK(message("{\"splits\": {\"flip_flop:model.width=32\": {\"other\": {\"length\": 8}}}}")
            .find("'flip_flop:model.width=32' has settings") != std::string::npos);
  CHECK(message("{\"extend\": {\"encodings\": \"NONE\", \"length\": 128}}") == "accepted");
  CHECK(message("{\"profile\": \"quik\"}").starts_with("bad.json: unknown profile 'quik'; did you mean 'quick'?"));
  CHECK(message("[1]") == "bad.json: expected an object");
  CHECK(message("{\"tasks\": ") != "accepted");
  CHECK_THROWS_AS(make_config({.settings = {"model.width"}}), InputError);
  CHECK_THROWS_AS(make_config({.settings = {"width=8"}}), InputError);
}
