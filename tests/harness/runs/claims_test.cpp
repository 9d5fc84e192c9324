// The claims that the program was built with, and `posbench reproduce`.
#include "harness/runs/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "harness/runs/confirmation.h"
#include "harness/runs/run_directory.h"
#include "harness/runs/suite.h"
#include "harness/training/options.h"
#include "results/reports/claim_json.h"
#include "results/reports/report_json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

/// The runs of all claims at the reduced size, and what `posbench reproduce` made of them.
const std::filesystem::path kKeptRuns = std::filesystem::path(POSBENCH_SOURCE_DIR) / "results/data/claims/runs";
/// The same of the claims that were run at full size.
const std::filesystem::path kKeptFull = std::filesystem::path(POSBENCH_SOURCE_DIR) / "results/data/claims/full";
/// The runs with registered seeds, which confirm claims.
const std::filesystem::path kConfirmed =
    std::filesystem::path(POSBENCH_SOURCE_DIR) / "results/data/claims/confirmed";

const std::vector<std::string> kInductionClaims{"rope-induction-over-absolute", "xpos-induction-double",
                                                "xpos-induction-four"};

/// Compares the right answers of the runs of a plan with those of the stored runs.
void check_repeats(const std::filesystem::path& directory, const ClaimPlan& plan,
                   const std::filesystem::path& stored) {
  for (const ClaimRun& run : plan.runs) {
    INFO(run.name);
    const Report made = read_report(find_report(directory / run.name));
    const Report kept = read_report(find_report(stored / run.name));
    REQUIRE(made.experiments.size() == kept.experiments.size());
    for (size_t e = 0; e < made.experiments.size(); ++e) {
      const ExperimentResult &mine = made.experiments[e], &theirs = kept.experiments[e];
      CHECK(mine.id == theirs.id);
      REQUIRE(mine.splits.size() == theirs.splits.size());
      for (size_t s = 0; s < mine.splits.size(); ++s) {
        CHECK(mine.splits[s].token == theirs.splits[s].token);
        CHECK(mine.splits[s].sequence == theirs.splits[s].sequence);
      }
    }
  }
}

/// Judges all claims by the reports in `directory` again, and compares the results with the verdicts there, at
/// full size those of the finished claims. Returns the plan of the claims with a verdict there.
ClaimPlan check_kept_verdicts(ClaimSize size, const std::filesystem::path& directory) {
  ClaimPlan plan = plan_claims({}, size);
  if (size != ClaimSize::confirmation) follow_stored(plan, {directory});
  AllEvidence evidence = collect_evidence(plan, {directory});
  const std::vector<Claim> all = plan.claims;
  std::vector<ClaimResult> results = judge_claims(all, evidence);
  if (size != ClaimSize::reduced) keep_finished(plan, evidence);
  for (size_t n = all.size(); n-- > 0;) {
    if (std::ranges::find(plan.claims, all[n].name, &Claim::name) == plan.claims.end())
      results.erase(results.begin() + static_cast<std::ptrdiff_t>(n));
  }
  CHECK(to_json(plan.claims, results, evidence, size, kClaimAlpha) == read_json(directory / "claims.json"));
  CHECK(evidence.empty() == plan.claims.empty());
  for (const auto& [key, of_run] : evidence) {
    INFO(key);
    CHECK(of_run.values.size() >= kClaimSeeds);
  }
  return plan;
}

}  // namespace

TEST_CASE("the claims have at most as many rules as each verdict is corrected for") {
  for (const ClaimSize size : {ClaimSize::reduced, ClaimSize::full}) {
    size_t rules = 0;
    for (const Claim& claim : plan_claims({}, size).claims) rules += claim.comparable ? claim.rules.size() : 0;
    CHECK(rules <= static_cast<size_t>(kRulesOfAllClaims));
  }
}

TEST_CASE("statements that a size cannot judge are not comparable there, and the reason is printed") {
  const TemporaryDirectory directory;
  const auto comparable = [](const std::string& name, ClaimSize size) {
    return plan_claims({name}, size).claims.front().comparable;
  };
  for (const char* name : {"position-coupling-200", "asentmax-copy-eight", "softmax-copy-eight",
                           "learned-selective-copy-dense", "t5-copy-over-rope", "offset-012-02-not-longer"}) {
    CAPTURE(name);
    CHECK(!comparable(name, ClaimSize::reduced));
    CHECK(comparable(name, ClaimSize::full));
  }
  for (const char* name : {"position-coupling-addition", "kerple-over-alibi-counting", "t5-buckets-saturate",
                           "none-majority-26", "rope-over-stick-breaking-one-layer"}) {
    CAPTURE(name);
    CHECK(!comparable(name, ClaimSize::reduced));
    CHECK(!comparable(name, ClaimSize::full));
  }
  const std::string shown = posbench_command(directory, "show position-coupling-200").out;
  CHECK(shown.find("not comparable") != std::string::npos);
  CHECK(shown.find("1 to 10 digits") != std::string::npos);
}

TEST_CASE("every claim's runs can be built, at both sizes, and have the splits of its rules") {
  for (const ClaimSize size : {ClaimSize::reduced, ClaimSize::full}) {
    const ClaimPlan plan = plan_claims({}, size);
    std::map<std::string, std::set<std::string>> splits{};
    for (const ClaimRun& run : plan.runs) {
      INFO(run.name);
      RunConfig one_seed = run.config;
      one_seed.seeds.resize(1);
      const Suite suite = make_suite(one_seed);
      REQUIRE(suite.experiments.size() == 1);
      splits[run.name] = {"in_distribution", "out_of_distribution"};
      for (const auto& split : suite.tasks.front()->splits) splits[run.name].insert(split.name);
    }
    for (const Claim& claim : plan.claims) {
      INFO(claim.name << ", " << to_string(size));
      if (!claim.comparable) continue;
      for (const Rule& rule : claim.rules) {
        const auto* order = std::get_if<OrderRule>(&rule);
        if (order && order->gap) CHECK(order->least == Approx(*order->gap / 4).margin(1e-6));
        for (const ClaimCell* cell : cells_of(rule)) CHECK(splits[cell->run].count(cell->split) == 1);
      }
    }
  }
}

TEST_CASE("claims of equal settings share their runs, which do not depend on what was chosen") {
  const ClaimPlan both = plan_claims({"cope-counting-3", "cope-over-relative-counting-3"}, ClaimSize::reduced);
  const ClaimPlan one = plan_claims({"cope-counting-3"}, ClaimSize::reduced);
  CHECK(both.runs.size() == 3);  // CoPE is in both claims
  REQUIRE(one.runs.size() == 2);
  CHECK(std::get<OrderRule>(one.claims[0].rules[0]).high.run ==
        std::get<OrderRule>(both.claims[0].rules[0]).high.run);
  CHECK(one.runs[0].config.seeds.size() == 8);
}

TEST_CASE("reproduce --list shows the verdicts of the stored runs") {
  const TemporaryDirectory directory;
  for (const auto& [option, kept] : {std::pair{"", "runs"}, std::pair{"--full ", "full"}}) {
    const Json json = read_json(fmt::format("{}/results/data/claims/{}/claims.json", POSBENCH_SOURCE_DIR, kept));
    std::map<std::string, std::string> verdicts;
    for (const Json& claim : json.at("claims")) verdicts[claim.at("name")] = claim.at("verdict");
    const Outcome list = posbench_command(directory, fmt::format("reproduce --list {}--format csv", option));
    std::istringstream lines(list.out);
    std::string line;
    std::getline(lines, line);
    CHECK(line.starts_with("claim,family,exploration,by itself,confirmation,kind,statement"));
    const ClaimSize size = *option ? ClaimSize::full : ClaimSize::reduced;
    for (const ClaimFile& file : claim_files()) {
      REQUIRE(std::getline(lines, line));
      const auto found = verdicts.find(file.claim.name);
      const bool comparable = file.settings.at(size).comparable;
      CAPTURE(line);
      CHECK(split_list(line, ',').at(2) == (!comparable               ? "not comparable"
                                            : found == verdicts.end() ? "not run"
                                                                      : found->second));
    }
    CHECK(!std::getline(lines, line));
  }
}

TEST_CASE("show prints the result of a rule in the stored runs") {
  const TemporaryDirectory directory;
  const Json json = read_json(std::string(POSBENCH_SOURCE_DIR) + "/results/data/claims/runs/claims.json");
  bool has_level = false, has_order = false;
  for (const Json& claim : json.at("claims")) {
    const Json& rule = claim.at("rules")[0];
    const bool is_level = rule.contains("cell") && !rule.at("reached").is_null();
    const bool is_order = rule.contains("difference") && !rule.at("difference").is_null();
    if ((!is_level || has_level) && (!is_order || has_order)) continue;
    (is_level ? has_level : has_order) = true;
    const std::string shown = posbench_command(directory, "show " + claim.at("name").get<std::string>()).out;
    CAPTURE(shown);
    const std::string expected =
        is_level ? fmt::format("{} of {} seeds", rule.at("reached").get<int>(), rule.at("seeds").get<int>())
                 : fmt::format("{:+.3f} (", rule.at("difference").get<double>());
    CHECK(shown.find("found:          " + expected) != std::string::npos);
    if (is_level) continue;
    CHECK(shown.find(fmt::format("; by more than {:.4g}", rule.at("least").get<double>())) != std::string::npos);
    const Json& evidence = json.at("evidence").at(rule.at("high").at("evidence").get<std::string>());
    const std::string seeds = fmt::format(" ({} seeds), ", evidence.at("values").size());
    CHECK(shown.find("means:          " + rule.at("high").at("encoding").get<std::string>()) != std::string::npos);
    CHECK(shown.find(seeds) != std::string::npos);
  }
  CHECK((has_level && has_order));
}

TEST_CASE("reproduce --list has a line for each claim, and show of a verdict its claims") {
  const TemporaryDirectory directory;
  const Outcome of_pattern = posbench_command(directory, "reproduce --list 'cope-counting-*' --format csv");
  CHECK(std::ranges::count(of_pattern.out, '\n') == 4);  // a header, and 1, 3 and 5 variables
  const auto has_full_size = [&](const std::string& claim) {
    return contains(posbench_command(directory, "show " + claim).out, "Exploration at full size");
  };
  CHECK(has_full_size("offset-sort"));
  CHECK_FALSE(has_full_size("none-over-offset-sort"));  // has "reduced": "full"
  const std::string weaker = posbench_command(directory, "show weaker").out;
  const Json all = Json::parse(posbench_command(directory, "reproduce --list --format json").out);
  for (const Json& claim : all) {
    const bool is_listed = weaker.find("\n" + claim.at("claim").get<std::string>() + " ") != std::string::npos;
    CHECK(is_listed == (claim.at("exploration") == "weaker"));
  }
}

TEST_CASE("reproduce refuses what it cannot do, with what to do") {
  const TemporaryDirectory directory;
  const auto refuses = [&](const std::string& arguments, const std::string& reason) {
    INFO(arguments);
    const Outcome outcome = posbench_command(directory, "reproduce " + arguments);
    CHECK(outcome.code == 2);
    CHECK(outcome.error.find(reason) != std::string::npos);
  };
  refuses("cope-counting-4", "unknown claim 'cope-counting-4'; did you mean 'cope-counting-");
  refuses("cope", "; did you mean 'cope-*'?");
  refuses("'x-*'", "unknown claim 'x-*'");
  refuses("--finished", "--judge-only");
  refuses("--judge-only --finished -o . --with .",
          "none of these claims has all its runs finished in ., .; --dry-run lists the runs");
  refuses("--judge-only -o . --with tra-flip-flop", "--with tra-flip-flop: there is no such directory");
  refuses("--judge-only -o . --shard 1/2", "--shard excludes --judge-only");
  refuses("--list -j 2", "--list excludes --jobs");
  refuses("none --shard 5", "--shard '5': expected K/N");
  refuses("--list -o .", "--list prints the verdicts that come with posbench");
  refuses("-o claims.html", "expected the directory of the runs; use --format html");
  refuses("--judge-only", "there is no directory runs/claims; name");
  refuses("cope-counting-1 --judge-only -o none", "none: there is no such directory");
  refuses("cope-counting-1 --judge-only -o . --with none", "none: there is no such directory");
}

TEST_CASE("reproduce judges only finished claims with --finished, and notes directories of the other size") {
  const TemporaryDirectory directory;
  const std::string kept = fmt::format("-o '{}'", kKeptFull.string());
  const Outcome finished =
      posbench_command(directory, "reproduce --full --judge-only --finished --format csv " + kept);
  CHECK(finished.out.find("xpos-induction-four") != std::string::npos);
  CHECK(finished.out.find("not run") == std::string::npos);
  CHECK(posbench_command(directory, "reproduce offset-sort --judge-only " + kept)
            .error.find("has no run of these claims; it has runs of the full size, so add --full") !=
        std::string::npos);
  CHECK(posbench_command(directory, "reproduce offset-sort --full --judge-only " + kept).error.empty());
  const Outcome nothing = posbench_command(directory, "reproduce cope-counting-1 --judge-only -o .");
  CHECK(nothing.code == 0);
  CHECK(nothing.out.find("1 not run") != std::string::npos);
  const Outcome csv = posbench_command(directory, "reproduce cope-counting-1 --judge-only -o . --format csv");
  CHECK(csv.out.starts_with("claim,verdict,rule,"));
  CHECK(std::ranges::count(csv.out, '\n') == 2);  // a header and one rule, no notes
  CHECK(posbench_command(directory, "reproduce cope-counting-1 --judge-only -o . --format html")
            .out.find("1 claim about position encodings") != std::string::npos);
}

TEST_CASE("a claim that is named has the verdict that it has among all claims") {
  const TemporaryDirectory directory;
  const auto check = [&](const char* options, const std::filesystem::path& runs) {
    INFO(options);
    const Json stored = read_json(runs / "claims.json");
    const Outcome outcome = posbench_command(
        directory, fmt::format("reproduce {} --judge-only --format json -o '{}'", options, runs.string()));
    const Json named = parse_json(outcome.out, "the output").at("claims").at(0);
    CHECK(std::ranges::count(stored.at("claims"), named) == 1);
  };
  check("rope-induction-over-absolute", kKeptRuns);
  check("cope-counting-3", kKeptRuns);
  check("cope-counting-3 --finished", kKeptRuns);
  check("xpos-induction-double --full --finished", kKeptFull);
}

TEST_CASE("a claim's runs are resumed, and it is judged by their results") {
  const TemporaryDirectory directory;
  const Outcome first = posbench_command(directory, "reproduce none-bidirectional-order -q -o claims");
  REQUIRE(first.code == 0);
  CHECK(first.out.find("\nnone-bidirectional-order  too few seeds") != std::string::npos);
  const Json json = read_json(directory / "claims/claims.json");
  CHECK(json.at("claims").at(0).at("by_itself") == "reproduced");
  CHECK(json.at("evidence").size() == 2);
  const Outcome again = posbench_command(directory, "reproduce none-bidirectional-order -q -o claims");
  CHECK(again.out == first.out);
}

TEST_CASE("a claim that is trained anew reserves questions for tests, and older runs are not compared with it") {
  const TemporaryDirectory directory;
  ClaimPlan plan = plan_claims({"none-bidirectional-order"}, ClaimSize::reduced);
  for (const ClaimRun& run : plan.runs) CHECK(run.config.training.reserve);
  for (const bool is_second : {false, true}) {
    Json report = read_json(find_report(kKeptRuns / plan.runs.at(is_second).name));
    report.erase("crc32");
    if (is_second) report["config"]["training"]["reserve"] = true;  // older reports lack it
    std::filesystem::create_directories(directory / plan.runs[is_second].name);
    directory.write(plan.runs[is_second].name + "/report.json", report.dump());
  }
  const Outcome mixed = posbench_command(directory, "reproduce none-bidirectional-order --judge-only -o .");
  CHECK(mixed.code == 2);
  CHECK(mixed.error.find("training.reserve was true and is now missing; remove it") != std::string::npos);
  follow_stored(plan, {kKeptRuns});
  for (const ClaimRun& run : plan.runs) CHECK(!run.config.training.reserve);
}

TEST_CASE("the stored confirmations follow from their runs, and their claims are those that were registered") {
  check_kept_verdicts(ClaimSize::confirmation, kConfirmed);
  const Json kept = read_json(kConfirmed / "claims.json");
  for (const Json& stored : kept.at("claims")) {
    const auto name = stored.at("name").get<std::string>();
    CAPTURE(name);
    const auto file =
        std::ranges::find(claim_files(), name, [](const ClaimFile& each) { return each.claim.name; });
    REQUIRE((file != claim_files().end() && file->claim.confirm));
    CHECK(stored.at("confirm").at("frozen") == file->claim.confirm->frozen);
    CHECK(stored.at("confirm").at("claim") == claim_hash(file->claim));
    CHECK(stored.at("confirm").at("rules") == file->claim.confirm->rules);
  }
}

TEST_CASE("a claim that is trained again at full size repeats the stored runs") {
  const TemporaryDirectory directory;
  const ClaimPlan plan = plan_claims({"majority-of-bits"}, ClaimSize::full);
  for (const ClaimRun& run : plan.runs) {
    const std::string stored = find_report(kKeptFull / run.name).string();
    REQUIRE(posbench_command(directory, fmt::format("run --config '{}' -q -o claims/{}", stored, run.name)).code ==
            0);
  }
  check_repeats(directory / "claims", plan, kKeptFull);
}

TEST_CASE("the stored verdicts follow from the stored runs, which have five seeds or more") {
  check_kept_verdicts(ClaimSize::reduced, kKeptRuns);
}

TEST_CASE("the stored verdicts of full-size runs follow from these, and every stored run belongs to one") {
  const ClaimPlan plan = check_kept_verdicts(ClaimSize::full, kKeptFull);
  std::set<std::string> needed, stored;
  for (const ClaimRun& run : plan.runs) needed.insert(run.name);
  for (const auto& entry : std::filesystem::directory_iterator(kKeptFull))
    if (entry.is_directory()) stored.insert(entry.path().filename());
  CHECK(stored == needed);
  for (const ClaimRun& run : plan_claims(kInductionClaims, ClaimSize::full).runs)
    CHECK(run.config.training.steps == 204800);
}

// docs/findings.md states these results. The models were trained on 256 tokens.
TEST_CASE("learned positions keep induction heads at trained positions, rope and xpos at trained distances") {
  for (const ClaimRun& run : plan_claims(kInductionClaims, ClaimSize::full).runs) {
    INFO(run.name);
    Count at_trained_positions, elsewhere, at_trained_distances, farther;
    for (const ExperimentResult& result : read_report(find_report(kKeptFull / run.name)).experiments) {
      for (const SplitResult& split : result.splits) {
        if (split.name != "ood_length_far2") continue;
        for (const DistanceResult& at : split.by_distance) {
          (512 - at.distance <= 256 ? at_trained_positions : elsewhere) += at.token;
          (at.distance <= 254 ? at_trained_distances : farther) += at.token;
        }
      }
    }
    if (run.config.encodings.front().text() == "learned_abs") {
      CHECK(accuracy(at_trained_positions) > 0.95);
      CHECK(accuracy(elsewhere) < 0.08);  // chance: 1 / 15
    } else {
      CHECK(accuracy(at_trained_distances) > 0.75);
      CHECK(accuracy(farther) < 0.5);
    }
  }
}
