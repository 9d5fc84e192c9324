// `posbench reproduce`: the verdicts on published claims by runs of this program.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel_for.h"
#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/commands/reproduce_request.h"
#include "harness/commands/run_config.h"
#include "harness/config/user_files.h"
#include "harness/console/help.h"
#include "harness/console/lines.h"
#include "harness/console/message.h"
#include "harness/console/output.h"
#include "harness/console/progress.h"
#include "harness/console/status_line.h"
#include "harness/console/terminal.h"
#include "harness/runs/claims.h"
#include "harness/runs/provenance.h"
#include "harness/runs/reuse.h"
#include "harness/runs/run_directory.h"
#include "harness/runs/run_record.h"
#include "harness/runs/suite.h"
#include "harness/runs/time_estimate.h"
#include "results/document/wrap.h"
#include "results/presentation/claims_page.h"
#include "results/presentation/claims_text.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

constexpr double kAlpha = 0.05;

/// Returns an object for each row, with the headers as keys.
Json to_json(const Table& table) {
  return write_list(table.rows, [&](const std::vector<Cell>& cells) {
    Json row;
    for (size_t column = 0; column < cells.size(); ++column)
      row[table.columns[column].header] = cells[column].text;
    return row;
  });
}

/// Prints a table in the requested format.
void print_table(const Table& table, const ReproduceRequest& request) {
  if (request.format == Format::json) {
    fmt::print("{}", to_indented_json(to_json(table)));
  } else {
    fmt::print("{}", table_text(table, request.format, {console_width(), wants_color(request.color)}));
  }
}

/// Returns the columns that fit a console: of claims with one verdict its reason, or the statement if there is no
/// reason; and else the verdict and the kind.
Table narrow(const Table& table, bool of_one_verdict, bool has_reasons) {
  std::vector<std::string> kept{"claim", "verdict", "kind"};
  if (of_one_verdict) kept = {"claim", has_reasons ? "reason of the verdict" : "statement"};
  Table result{{}, std::vector<std::vector<Cell>>(table.rows.size())};
  for (size_t column = 0; column < table.columns.size(); ++column) {
    if (std::ranges::find(kept, table.columns[column].header) == kept.end()) continue;
    result.columns.push_back(table.columns[column]);
    for (size_t row = 0; row < table.rows.size(); ++row) result.rows[row].push_back(table.rows[row][column]);
  }
  return result;
}

/// Prints the claims with the verdicts of the stored runs.
void print_claims(const ClaimPlan& plan, const ReproduceRequest& request) {
  std::vector<Claim> claims;
  std::vector<ClaimResult> results;
  for (const ClaimFile& file : claim_files()) {
    const auto chosen = std::ranges::find(plan.claims, file.claim.name, &Claim::name);
    ClaimResult result = stored_result(file, request.size);
    if (chosen == plan.claims.end() || (request.verdict && result.verdict != *request.verdict)) continue;
    claims.push_back(*chosen);
    results.push_back(std::move(result));
  }
  if (claims.empty() && request.format == Format::console) {
    fmt::print("none of these claims has the verdict '{}'\n", to_string(*request.verdict));
    return;
  }
  const Table table = claim_list(claims, results);
  const bool has_reasons = std::ranges::any_of(results, [](const auto& result) { return !result.reason.empty(); });
  print_table(request.format == Format::console ? narrow(table, request.verdict.has_value(), has_reasons) : table,
              request);
  if (request.format != Format::console) return;
  fmt::print("\n");
  for (const std::string& note :
       {std::string("verdict: by the stored runs of this size ('posbench show weaker' explains a verdict)"),
        std::string(
            "'posbench show CLAIM' has the statement, the rule and the reason; --verdict WORD lists the reasons "
            "of a verdict, and --format csv has all columns"),
        "verdicts: " + count_verdicts(results), "kinds: " + claim_kinds(claims)})
    fmt::print("{}\n", wrapped_lines(note, 0, list_width()));
}

/// Returns the run directories or reports with this name in these directories.
std::vector<fs::path> runs_of(const std::string& name, const std::vector<fs::path>& directories) {
  std::vector<fs::path> runs;
  for (const fs::path& directory : directories) {
    const fs::path run = directory / name;
    if (!find_report(run).empty() || fs::exists(run / kManifestFile)) runs.push_back(run);
  }
  return runs;
}

bool has_run(const ClaimPlan& plan, const fs::path& directory) {
  return std::ranges::any_of(plan.runs,
                             [&](const ClaimRun& run) { return !runs_of(run.name, {directory}).empty(); });
}

/// Notes that a directory, which is that of the option, has no run of the plan.
void note_useless(const ClaimPlan& plan, const ReproduceRequest& request, const char* option,
                  const fs::path& directory) {
  if (plan.runs.empty() || has_run(plan, directory)) return;
  const bool is_full = request.size == ClaimSize::full;
  const ClaimSize other = is_full ? ClaimSize::reduced : ClaimSize::full;
  write_note(
      fmt::format("note: {} {} has no run of these claims; {}", option, directory.string(),
                  has_run(plan_claims(request.claims, other), directory)
                      ? fmt::format("it has runs of the {} size, so {} --full", to_string(other),
                                    is_full ? "leave out" : "add")
                      : fmt::format("expected the -o of 'posbench reproduce', with a folder {}, for example",
                                    plan.runs.front().name)));
}

/// Prints the estimated time of each claim, the shortest first. `seconds` has the core time of each run. A run
/// counts in each claim that needs it.
void print_times(const std::vector<Claim>& claims, const std::map<std::string, double>& seconds,
                 const ReproduceRequest& request) {
  std::vector<std::pair<double, const Claim*>> times;
  for (const Claim& claim : claims) {
    if (!claim.comparable) continue;
    double time = 0;
    for (const std::string& run : needed_runs(claim)) time += seconds.at(run);
    times.emplace_back(time, &claim);
  }
  if (times.empty()) return;
  std::ranges::stable_sort(times, {}, &std::pair<double, const Claim*>::first);
  Table table{{{"claim"}, {"runs", Align::right}, {"core hours", Align::right}}, {}};
  for (const auto& [time, claim] : times)
    table.rows.push_back(
        {claim->name, fmt::format("{}", needed_runs(*claim).size()), fmt::format("{:.1f}", time / 3600)});
  fmt::print("\n");
  print_table(table, request);
  if (times.size() > 1) fmt::print("a run counts in each claim that needs it\n");
}

/// Prints the estimated time of each run on one core, without the experiments that are reused, and that of each
/// claim.
void print_plan(const ClaimPlan& plan, const ReproduceRequest& request, const fs::path& directory, int jobs) {
  Table table{{{"run"}, {"task"}, {"encoding"}, {"seeds to train", Align::right}, {"core minutes", Align::right}},
              {}};
  double seconds = 0, wall_seconds = 0;
  std::map<std::string, double> seconds_of_runs;
  StatusLine status("measuring the runs");
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    status.set_progress(i, plan.runs.size());
    if (!request.shard.has(i)) continue;
    const RunConfig& config = plan.runs[i].config;
    Suite suite = make_suite(config);
    const std::string& name = plan.runs[i].name;
    if (!find_report(directory / name).empty()) {
      suite.experiments.clear();
    } else {
      leave_out_reused(suite, read_reusable(suite, runs_of(name, {directory})));
      const ReusedResults reused = read_reusable(suite, runs_of(name, request.with));
      for (const std::string& useless : reused.useless) write_note("note: " + useless);
      leave_out_reused(suite, reused);
    }
    const TimeEstimate of_run = estimate_time(suite, jobs, kIdleCores, [](size_t, size_t) {});
    seconds += of_run.core_seconds;
    seconds_of_runs[name] = of_run.core_seconds;
    wall_seconds += of_run.wall_seconds;
    table.rows.push_back({name, config.tasks.front().text(), config.encodings.front().text(),
                          fmt::format("{}", suite.experiments.size()),
                          fmt::format("{:.1f}", of_run.core_seconds / 60)});
  }
  status.clear();
  print_table(table, request);
  if (request.format == Format::csv || request.format == Format::json) return;
  if (seconds_of_runs.size() == plan.runs.size())
    print_times(plan.claims, seconds_of_runs, request);  // all shards
  fmt::print("\n{}, {}; about {} of core time, {} with {}\n", counted(plan.claims.size(), "claim"),
             counted(table.rows.size(), "run"), format_duration(seconds), format_duration(wall_seconds),
             counted(static_cast<size_t>(jobs), "job"));
}

/// Trains the unfinished runs. Returns the exit code of the first run that was interrupted or could not write.
int train(const ReproduceRequest& request, const ClaimPlan& plan, const fs::path& directory) {
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const fs::path path = directory / plan.runs[i].name;
    if (!request.shard.has(i) || !find_report(path).empty()) continue;
    write_note(fmt::format("run {} of {}: {}", i + 1, plan.runs.size(), plan.runs[i].name));
    RunRequest run_request;
    run_request.jobs = request.jobs;
    run_request.directory = path;
    run_request.existing = Existing::resume;
    run_request.reuse = runs_of(plan.runs[i].name, request.with);
    run_request.refuse_useless = false;
    run_request.print_summary = false;
    run_request.needs_resume_flag = false;
    run_request.verbosity = is_quiet() ? Verbosity::quiet : Verbosity::normal;
    run_request.color = request.color;
    run_request.command = request.command;
    if (const int code = run_config(plan.runs[i].config, run_request)) return code;
  }
  return 0;
}

/// Throws InputError if an unfinished run in the directory cannot be continued.
void check_unfinished(const ClaimPlan& plan, const fs::path& directory) {
  const Json context = provenance({});
  for (const ClaimRun& run : plan.runs) {
    const fs::path path = directory / run.name;
    if (!find_report(path).empty() || !fs::exists(path / kManifestFile)) continue;
    const Manifest manifest = read_user_files([&] { return read_run_manifest(path / kManifestFile); });
    std::string other = difference(manifest.config, to_json(run.config));
    if (other.empty()) other = version_difference(manifest.context, context);
    if (other.empty()) continue;
    throw InputError(fmt::format("{} is not finished and cannot be continued: {}; use another -o and --with {}",
                                 path.string(), other, directory.string()));
  }
}

/// Judges the claims of `plan` together with all others, because the correction is for all. The runs of the others
/// in the directories count too.
std::vector<ClaimResult> judge_among_all(const ClaimPlan& plan, const AllEvidence& evidence, ClaimSize size,
                                         const std::vector<fs::path>& directories) {
  ClaimPlan all = plan_claims({}, size);
  for (ClaimRun& run : all.runs) {  // the chosen ones may need more seeds
    const auto chosen = std::ranges::find(plan.runs, run.name, &ClaimRun::name);
    if (chosen != plan.runs.end()) run = *chosen;
  }
  AllEvidence of_all = evidence;
  if (plan.claims.size() < all.claims.size()) {
    of_all.merge(collect_evidence(all, directories, OtherSettings::skipped));
  }
  const std::vector<ClaimResult> results = judge_claims(all.claims, of_all, kAlpha);
  std::vector<ClaimResult> chosen;
  // Both plans are sorted by name.
  for (size_t i = 0; i < results.size() && chosen.size() < plan.claims.size(); ++i) {
    if (all.claims[i].name == plan.claims[chosen.size()].name) chosen.push_back(results[i]);
  }
  return chosen;
}

/// Prints the verdicts. `json` has all of them.
void print_results(const ReproduceRequest& request, const ClaimPlan& plan, const std::vector<ClaimResult>& results,
                   const std::string& json) {
  if (request.format == Format::json) {
    fmt::print("{}", json);
    return;
  }
  const bool document = request.format == Format::markdown || request.format == Format::latex;
  const bool csv = request.format == Format::csv;
  const Table table = document ? claim_statements(plan.claims, results) : claim_table(plan.claims, results, csv);
  print_table(table, request);
  if (csv) return;
  fmt::print("\n");
  for (const std::string& note : claim_notes(plan.claims, results)) {
    const char* bullet = request.format == Format::markdown ? "* " : "";
    fmt::print("{}{}\n", bullet, line_text(note, request.format, {}));
  }
}

int reproduce(const ReproduceRequest& request) {
  check_request(request);
  ClaimPlan plan = plan_claims(request.claims, request.size, request.seeds);
  const int jobs = request.jobs > 0 ? request.jobs : count_hardware_threads();
  if (request.list) {
    print_claims(plan, request);
    return 0;
  }
  const fs::path directory =
      request.directory.value_or(request.size == ClaimSize::full ? "runs/claims-full" : "runs/claims");
  std::vector<fs::path> directories{directory};
  directories.insert(directories.end(), request.with.begin(), request.with.end());
  for (const fs::path& other : request.with) note_useless(plan, request, "--with", other);
  if (request.judge_only && !request.directory && !fs::exists(directory)) {
    throw InputError(
        fmt::format("there is no directory {}; name that of the runs with -o, or train without --judge-only",
                    directory.string()));
  }
  if (request.judge_only || fs::exists(directory)) check_directory("-o", directory);
  if (request.judge_only && request.with.empty()) note_useless(plan, request, "-o", directory);
  if (!request.judge_only && !request.dry_run) {
    check_output_folder(directory, directory);
    make_folder(directory);
  }
  if (!request.judge_only) {  // refuses other settings before anything is trained
    collect_evidence(plan, {directory});
    check_unfinished(plan, directory);
  }
  if (request.dry_run) {
    print_plan(plan, request, directory, jobs);
    return 0;
  }
  if (!request.judge_only) {
    if (const int code = train(request, plan, directory)) return code;
  }
  AllEvidence evidence = collect_evidence(plan, directories);
  if (request.finished) {
    keep_finished(plan, evidence);
    if (plan.claims.empty()) {
      std::vector<std::string> names;
      for (const fs::path& path : directories) names.push_back(path.string());
      throw InputError(fmt::format(
          "none of these claims has all its runs finished in {}; --dry-run lists the runs that are left to train",
          fmt::join(names, ", ")));
    }
  }
  const std::vector<ClaimResult> results = judge_among_all(plan, evidence, request.size, directories);
  const std::string json =
      to_indented_json(posbench::to_json(plan.claims, results, evidence, request.size, kAlpha));
  if (!request.judge_only) write_file(directory / "claims.json", json);
  const std::optional<fs::path> page =
      request.page || request.judge_only ? request.page : std::optional(directory / "claims.html");
  if (page) {
    write_file(*page,
               make_claims_page(plan.claims, results, evidence, to_string(request.size), directory.string()));
  }
  print_results(request, plan, results, json);
  if (request.format == Format::json || request.format == Format::csv) return 0;
  if (!request.judge_only) fmt::print("\nclaims: {}\n", (directory / "claims.json").string());
  if (page) fmt::print("{}page: {}\n", request.judge_only ? "\n" : "", page->string());
  return 0;
}

}  // namespace

void add_reproduce(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<ReproduceRequest>();
  CLI::App* command =
      app.add_subcommand("reproduce",
                         "Train the runs that published claims need, and judge the claims by fixed rules")
          ->group(kRunning);
  add_options(*command, request);
  command->callback([request, &invocation] {
    request->command = invocation.arguments;
    invocation.exit_code = reproduce(*request);
  });
}

}  // namespace posbench
