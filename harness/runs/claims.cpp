#include "harness/runs/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/spec.h"
#include "base/text.h"
#include "harness/config/embedded_data.h"
#include "harness/config/names.h"
#include "harness/config/user_files.h"
#include "harness/runs/run_directory.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace fs = std::filesystem;

namespace {

/// Returns the FNV-1a hash. It must not change, since it names run directories.
std::string short_hash(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211ull;
  return fmt::format("{:08x}", hash >> 32);
}

/// Returns the configuration of a claim at one size. The tasks, encodings and seeds are those of its profile.
RunConfig make_claim_config(const ClaimFile& file, ClaimSize size) {
  const ClaimSetting& setting = file.settings.at(size);
  static std::map<std::string, RunConfig> configs;  // by profile, since many claims have the same
  if (!configs.contains(setting.profile)) configs[setting.profile] = make_config({.profile = setting.profile});
  RunConfig config = configs.at(setting.profile);
  config.evaluation.grid = config.evaluation.shift = 0;  // the rules of claims are about the splits of tasks
  overlay(setting.config, fmt::format("{}.json: {}.config", file.claim.name, to_string(size)), config);
  return config;
}

/// Returns the configuration of one task and one encoding, without seeds. `config` is that of the claim.
RunConfig make_run_config(RunConfig config, const ClaimFile& file, ClaimSize size, const ClaimCell& cell) {
  config.tasks = select_tasks(file.tasks.at(cell.task).at(size));
  config.encodings = select_encodings(cell.encoding);
  if (config.tasks.size() != 1 || config.encodings.size() != 1) {
    throw InputError(fmt::format("{}.json: expected one task and one encoding in each rule, not '{}' and '{}'",
                                 file.claim.name, file.tasks.at(cell.task).at(size), cell.encoding));
  }
  const TaskSpec& task = config.tasks.front();
  const std::string &name = task.task.name, text = task.text();
  std::erase_if(config.overrides, [&](const auto& entry) { return entry.first != name; });
  std::erase_if(config.splits, [&](const auto& entry) { return entry.first != name && entry.first != text; });
  config.seeds.clear();
  return config;
}

/// Returns the name of the run. It does not depend on what follow_stored() sets, so that older runs
/// keep their names.
std::string run_name(RunConfig config) {
  config.training.reserve = false;
  config.evaluation.grid_rules = 1;
  return fmt::format("{}-{}-{}", config.tasks.front().task.name, config.encodings.front().name,
                     short_hash(to_compact_json(to_json(config))));
}

/// Returns pointers to the cells of all rules of a claim, which may be const.
auto cells(auto& claim) {
  decltype(cells_of(claim.rules.front())) cells;
  for (auto& rule : claim.rules) std::ranges::copy(cells_of(rule), std::back_inserter(cells));
  return cells;
}

/// Returns the names of the runs that a claim of a plan needs.
std::set<std::string> needed_runs(const Claim& claim) {
  std::set<std::string> runs;
  for (const ClaimCell* cell : cells(claim)) runs.insert(cell->run);
  return runs;
}

/// Returns the claims that match one of the patterns; without patterns, all.
std::set<std::string> choose_claims(const std::vector<std::string>& patterns) {
  std::vector<std::string> known;
  for (const ClaimFile& file : claim_files()) known.push_back(file.claim.name);
  if (patterns.empty()) return {known.begin(), known.end()};
  std::set<std::string> chosen;
  for (const std::string& pattern : patterns) {
    const std::vector<std::string> matches = matching(pattern, known);
    if (matches.empty()) {
      const std::string beginning = pattern + "-*";
      throw InputError(fmt::format("unknown claim '{}'{} ('posbench reproduce --list' shows all {})", pattern,
                                   matching(beginning, known).empty()
                                       ? did_you_mean(pattern, known)
                                       : fmt::format("; did you mean '{}'?", beginning),
                                   known.size()));
    }
    chosen.insert(matches.begin(), matches.end());
  }
  return chosen;
}

/// Returns the number of seeds of the configuration that the report has.
size_t count_seeds(const Report& report, const RunConfig& config) {
  const auto has = [&](std::uint64_t seed) {
    return std::ranges::any_of(report.experiments, [&](const auto& e) { return e.id.seed == seed; });
  };
  return static_cast<size_t>(std::ranges::count_if(config.seeds, has));
}

/// Returns the first setting in which a report and a configuration differ; "" if only their seeds do.
std::string difference_without_seeds(const Report& report, const RunConfig& config) {
  Json before = report.config, now = to_json(config);
  before["seeds"] = now["seeds"] = Json::array();
  return difference(before, now);
}

/// Reads the report of a run with all its seeds. Returns nothing if it is missing or unfinished.
std::optional<Report> read_run(const ClaimRun& run, const fs::path& directory, bool fewer_seeds_refused) {
  const fs::path path = find_report(directory / run.name);
  if (path.empty()) return {};
  Report report = read_user_files([&] { return read_report(path); });
  const std::string other = difference_without_seeds(report, run.config);
  if (!other.empty()) {
    throw InputError(fmt::format(
        "{} has other settings than its claims: {}; remove it, and 'posbench reproduce' trains it again",
        path.string(), other));
  }
  const size_t seeds = count_seeds(report, run.config);
  if (seeds == run.config.seeds.size()) return report;
  if (!fewer_seeds_refused) return {};
  throw InputError(fmt::format("{} has {} of {} seeds; train the others with another -o and --with {}",
                               path.string(), seeds, run.config.seeds.size(), directory.string()));
}

/// Returns a claim with its settings and runs at a size, and adds the configurations of the runs.
Claim plan_claim(const ClaimFile& file, ClaimSize size, std::map<std::string, RunConfig>& runs) {
  const ClaimSetting& setting = file.settings.at(size);
  Claim claim = file.claim;
  if (size != ClaimSize::confirmation) claim.confirm.reset();
  claim.comparable = setting.comparable;
  claim.differs = setting.differs;
  if (!setting.comparable) return claim;
  const RunConfig of_claim = make_claim_config(file, size);
  for (ClaimCell* cell : cells(claim)) {
    RunConfig config = make_run_config(of_claim, file, size, *cell);
    cell->run = run_name(config);
    runs.emplace(cell->run, std::move(config));
  }
  return claim;
}

}  // namespace

const std::vector<ClaimFile>& claim_files() {
  static const std::vector<ClaimFile> files = [] {
    std::vector<ClaimFile> files;
    for (const auto& [name, text] : claim_texts()) {
      files.push_back(read_claim(parse_json(text, name + ".json"), name));
    }
    return files;
  }();
  return files;
}

const JudgedClaims& stored_claims(ClaimSize size) {
  static const std::map<ClaimSize, JudgedClaims> all = [] {
    std::map<ClaimSize, JudgedClaims> all;
    for (const ClaimSize each : {ClaimSize::reduced, ClaimSize::full, ClaimSize::confirmation}) {
      const std::string name = to_string(each), title = name + " verdicts";
      all[each] = read_judged_claims(parse_json(verdict_texts().at(name), title), title);
    }
    return all;
  }();
  return all.at(size);
}

ClaimResult stored_result(const ClaimFile& file, ClaimSize size) {
  const ClaimSetting& setting = file.settings.at(size);
  const std::map<std::string, ClaimResult>& results = stored_claims(size).results;
  const auto found = results.find(file.claim.name);
  ClaimResult result;
  if (!setting.comparable) {
    result = {.verdict = Verdict::not_comparable,
              .by_itself = Verdict::not_comparable,
              .reason = setting.differs,
              .rules = {}};
  } else if (found != results.end()) {
    result = found->second;
  }
  result.rules.resize(file.claim.rules.size());
  return result;
}

Claim claim_at(const ClaimFile& file, ClaimSize size) {
  std::map<std::string, RunConfig> runs;
  return plan_claim(file, size, runs);
}

ClaimPlan plan_claims(const std::vector<std::string>& patterns, ClaimSize size, int least_seeds) {
  const std::set<std::string> chosen_claims = choose_claims(patterns);
  std::map<std::string, RunConfig> runs;
  std::map<std::string, std::set<std::uint64_t>> seeds;  // of all claims, also of those that are not chosen
  std::set<std::string> needed;
  ClaimPlan plan;
  for (const ClaimFile& file : claim_files()) {
    Claim claim = plan_claim(file, size, runs);
    const bool chosen = chosen_claims.contains(claim.name);
    for (const std::string& run : claim.comparable ? needed_runs(claim) : std::set<std::string>()) {
      for (const std::uint64_t seed : parse_seeds(file.settings.at(size).seeds)) seeds[run].insert(seed);
      if (chosen) needed.insert(run);
    }
    if (chosen) plan.claims.push_back(std::move(claim));
  }
  for (const std::string& name : needed) {
    RunConfig config = runs.at(name);
    if (least_seeds > 0)
      for (const std::uint64_t seed : parse_seeds(std::to_string(least_seeds))) seeds[name].insert(seed);
    config.seeds.assign(seeds[name].begin(), seeds[name].end());
    plan.runs.push_back({name, std::move(config)});
  }
  return plan;
}

void follow_stored(ClaimPlan& plan, const std::vector<fs::path>& directories) {
  for (const fs::path& directory : directories) {
    for (const ClaimRun& stored : plan.runs) {
      const fs::path path = directory / stored.name, report = find_report(path);
      if (report.empty() && !fs::exists(path / kManifestFile)) continue;
      const Json config = read_user_files([&] {
        return report.empty() ? read_run_manifest(path / kManifestFile).config : read_report(report).config;
      });
      for (ClaimRun& run : plan.runs) {
        run.config.training.reserve = config.value(Json::json_pointer("/training/reserve"), Json()) == true;
        run.config.evaluation.grid_rules =
            config.value(Json::json_pointer("/evaluation/grid_rules"), Json()) == 2 ? 2 : 1;
      }
      return;
    }
  }
}

AllEvidence collect_evidence(const ClaimPlan& plan, const std::vector<fs::path>& directories) {
  std::map<std::string, Report> reports;
  for (const ClaimRun& run : plan.runs) {
    for (const fs::path& directory : directories) {
      if (std::optional<Report> report = read_run(run, directory, directory == directories.front())) {
        reports.emplace(run.name, *std::move(report));
        break;
      }
    }
  }
  AllEvidence evidence;
  for (const Claim& claim : plan.claims) {
    for (const ClaimCell* cell : cells(claim)) {
      const auto found = reports.find(cell->run);
      if (found == reports.end()) continue;
      evidence.emplace(evidence_key(*cell, claim.metric),
                       find_evidence({found->first, found->second}, *cell, claim.metric));
    }
  }
  return evidence;
}

void keep_finished(ClaimPlan& plan, AllEvidence& evidence) {
  std::set<std::string> runs, keys;
  std::erase_if(plan.claims, [&](const Claim& claim) {
    const std::vector<const ClaimCell*> all = cells(claim);
    const auto key = [&](const ClaimCell* cell) { return evidence_key(*cell, claim.metric); };
    const auto has_evidence = [&](const ClaimCell* cell) { return evidence.contains(key(cell)); };
    if (!claim.comparable || !std::ranges::all_of(all, has_evidence)) return true;
    for (const ClaimCell* cell : all) keys.insert(key(cell));
    runs.merge(needed_runs(claim));
    return false;
  });
  std::erase_if(plan.runs, [&](const ClaimRun& run) { return !runs.contains(run.name); });
  std::erase_if(evidence, [&](const auto& item) { return !keys.contains(item.first); });
}

}  // namespace posbench
