// `posbench reproduce`: the verdicts on published claims by runs of this program.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
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
#include "harness/commands/execute_run.h"
#include "harness/config/embedded_data.h"
#include "harness/config/user_files.h"
#include "harness/console/message.h"
#include "harness/console/output.h"
#include "harness/console/progress.h"
#include "harness/runs/claims.h"
#include "harness/runs/confirmation.h"
#include "harness/runs/provenance.h"
#include "harness/runs/reuse.h"
#include "harness/runs/run_record.h"
#include "harness/runs/suite.h"
#include "harness/runs/time_estimate.h"
#include "results/presentation/claims_page.h"
#include "results/presentation/claims_text.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

struct ReproduceRequest {
  std::vector<std::string> claims;  // names; empty: all
  ClaimSize size = ClaimSize::reduced;
  std::optional<std::filesystem::path> directory;
  std::vector<std::filesystem::path> with;  // further directories with runs
  int seeds = 0, jobs = 0;                  // seeds: the least number
  Shard shard;
  bool list = false, dry_run = false, judge_only = false, finished = false;
  Output output;  // without a file
  std::vector<std::string> command;
};

/// Returns the claims with the verdicts of the stored runs.
Document list_document(const ClaimPlan& plan, ClaimSize size) {
  const bool is_confirmation = size == ClaimSize::confirmation;
  std::vector<ClaimResult> results, confirmed;
  for (const Claim& claim : plan.claims) {
    const auto file =
        std::ranges::find(claim_files(), claim.name, [](const ClaimFile& each) { return each.claim.name; });
    results.push_back(stored_result(*file, is_confirmation ? ClaimSize::reduced : size));
    confirmed.push_back(stored_result(*file, ClaimSize::confirmation));
  }
  Document document;
  Table table = claim_list(plan.claims, results, confirmed);
  if (is_confirmation) {
    table.columns.insert(table.columns.end(), {{"frozen"}, {"claim hash"}, {"rules hash"}});
    for (size_t i = 0; i < plan.claims.size(); ++i) {
      const Claim& claim = plan.claims[i];
      for (const std::string& text : {claim.confirm->frozen, claim_hash(claim), claim_rules_hash()})
        table.rows[i].push_back(text);
    }
  }
  document.rows = [table] { return table; };
  document.json = [table] { return to_json(table); };
  document.blocks.emplace_back(claim_verdicts(plan.claims, results, confirmed));
  for (const std::string& note :
       {std::string(
            "exploration: by stored runs after which settings and rules changed; by itself: as if no other "
            "rule was judged"),
        std::string("confirmation: by seeds that were registered before and trained once; -: none is registered"),
        std::string(
            "'posbench show CLAIM' has the statement, the rule and the reason, 'posbench show weaker' the claims "
            "with a verdict, and --format csv all columns"),
        is_confirmation ? "confirmation: " + count_verdicts(confirmed) : "exploration: " + count_verdicts(results),
        "by itself: " + count_verdicts(results, &ClaimResult::by_itself), "kinds: " + claim_kinds(plan.claims)})
    document.blocks.emplace_back(Note{note});
  return document;
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

/// Returns the experiments of a run that are left to train.
Suite unfinished_suite(const ClaimRun& run, const ReproduceRequest& request, const fs::path& directory) {
  Suite suite = make_suite(run.config);
  if (!find_report(directory / run.name).empty()) {
    suite.experiments.clear();
    return suite;
  }
  leave_out_reused(suite, read_reusable(suite, runs_of(run.name, {directory})));
  const ReusedResults reused = read_reusable(suite, runs_of(run.name, request.with));
  for (const std::string& useless : reused.useless) write_note("note: " + useless);
  leave_out_reused(suite, reused);
  return suite;
}

/// Returns the estimated time of each run on one core, without the experiments that are reused.
Document plan_document(const ClaimPlan& plan, const ReproduceRequest& request, const fs::path& directory,
                       int jobs) {
  Table table{{{"run"}, {"task"}, {"encoding"}, {"seeds to train", Align::right}, {"core minutes", Align::right}},
              {}};
  double seconds = 0, wall_seconds = 0;
  Progress status("measuring the runs");
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    status.set_progress(i, plan.runs.size());
    if (!request.shard.has(i)) continue;
    const ClaimRun& run = plan.runs[i];
    const Suite suite = unfinished_suite(run, request, directory);
    const TimeEstimate of_run = estimate_time(suite, jobs, kIdleCores, [](size_t, size_t) {});
    seconds += of_run.core_seconds;
    wall_seconds += of_run.wall_seconds;
    table.rows.push_back({run.name, run.config.tasks.front().text(), run.config.encodings.front().text(),
                          fmt::format("{}", suite.experiments.size()),
                          fmt::format("{:.1f}", of_run.core_seconds / 60)});
  }
  status.clear();
  Document document;
  document.json = [table] { return to_json(table); };
  document.blocks.emplace_back(table);
  document.blocks.emplace_back(
      Note{fmt::format("{}, {}; about {} of core time, {} with {}", counted(plan.claims.size(), "claim"),
                       counted(table.rows.size(), "run"), format_duration(seconds), format_duration(wall_seconds),
                       counted(static_cast<size_t>(jobs), "job"))});
  return document;
}

/// Trains the unfinished runs. Returns the exit code of the first run that was interrupted or could not write.
int train(const ReproduceRequest& request, const ClaimPlan& plan, const fs::path& directory) {
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const fs::path path = directory / plan.runs[i].name;
    if (!request.shard.has(i) || !find_report(path).empty()) continue;
    write_note(fmt::format("run {} of {}: {}", i + 1, plan.runs.size(), plan.runs[i].name));
    ExecutionOptions execution;
    execution.jobs = request.jobs;
    execution.directory = path;
    execution.existing = Existing::resume;
    execution.reuse = runs_of(plan.runs[i].name, request.with);
    execution.refuse_useless = false;
    execution.print_summary = false;
    execution.needs_resume_flag = false;
    execution.command = request.command;
    if (const int code = execute_run(plan.runs[i].config, execution)) return code;
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

/// Judges the claims by the finished runs and prints the verdicts. Writes claims.json after training.
void judge(const ReproduceRequest& request, ClaimPlan plan, const std::vector<fs::path>& directories) {
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
  const fs::path& directory = directories.front();
  const std::vector<ClaimResult> results = judge_claims(plan.claims, evidence);
  Document document =
      make_claims_document(plan.claims, results, evidence, request.size, kClaimAlpha, directory.string());
  if (!request.judge_only) {
    const fs::path file = directory / "claims.json";
    write_file(file, to_json_text(document));
    document.blocks.emplace_back(Facts{{{"claims", file.string()}}});
  }
  write_document(request.output, document);
}

/// Throws InputError if the path, which is that of the option, is not a directory.
void check_directory(const char* option, const fs::path& path) {
  if (fs::is_directory(path)) return;
  throw InputError(
      fmt::format("{} {}: {}", option, path.string(),
                  fs::exists(path) ? "is a file, expected a directory" : "there is no such directory"));
}

/// Throws InputError if options do not go together, or if a directory of --with is missing.
void check_request(const ReproduceRequest& request) {
  if (request.directory && request.directory->extension() == ".html") {
    throw InputError(
        fmt::format("-o is '{0}', expected the directory of the runs; use --format html >{0} for the page",
                    request.directory->string()));
  }
  if (request.list && (request.directory || request.seeds > 0 || !request.with.empty())) {
    throw InputError(
        "--list prints the verdicts that come with posbench, without -o, -s and --with; 'posbench reproduce "
        "--judge-only -o DIR' prints those of your runs");
  }
  for (const fs::path& other : request.with) check_directory("--with", other);
}

/// Refuses directories that cannot be used, and notes those that have no run of the plan.
void check_directories(const ReproduceRequest& request, const ClaimPlan& plan, const fs::path& directory) {
  for (const fs::path& other : request.with) note_useless(plan, request, "--with", other);
  if (request.judge_only && !request.directory && !fs::exists(directory)) {
    throw InputError(
        fmt::format("there is no directory {}; name that of the runs with -o, or train without --judge-only",
                    directory.string()));
  }
  if (request.judge_only || fs::exists(directory)) check_directory("-o", directory);
  if (request.judge_only && request.with.empty()) note_useless(plan, request, "-o", directory);
  if (request.judge_only) return;
  if (!request.dry_run) {
    check_output_folder(directory, directory);
    make_folder(directory);
  }
  collect_evidence(plan, {directory});  // refuses other settings before anything is trained
  check_unfinished(plan, directory);
}

/// Returns the directory of the runs if -o does not name one.
const char* default_directory(ClaimSize size) {
  return size == ClaimSize::confirmation ? "runs/confirmation"
         : size == ClaimSize::full       ? "runs/claims-full"
                                         : "runs/claims";
}

int reproduce(const ReproduceRequest& request) {
  check_request(request);
  const bool confirms = request.size == ClaimSize::confirmation;
  const bool all_open = request.claims.empty() && !request.list && !request.judge_only;
  ClaimPlan plan = plan_claims(confirms ? registered_claims(request.claims, all_open) : request.claims,
                               request.size, request.seeds);
  if (request.list) {
    write_document(request.output, list_document(plan, request.size));
    return 0;
  }
  const fs::path directory = request.directory.value_or(default_directory(request.size));
  std::vector<fs::path> directories{directory};
  directories.insert(directories.end(), request.with.begin(), request.with.end());
  if (confirms) {
    check_frozen(plan.claims);
    if (!request.judge_only) check_not_confirmed(plan.claims);
  } else {
    follow_stored(plan, directories);
  }
  check_directories(request, plan, directory);
  if (request.dry_run) {
    const int jobs = request.jobs > 0 ? request.jobs : count_cores();
    write_document(request.output, plan_document(plan, request, directory, jobs));
    return 0;
  }
  if (!request.judge_only) {
    if (const int code = train(request, plan, directory)) return code;
  }
  judge(request, std::move(plan), directories);
  return 0;
}

void add_options(Command& command, const std::shared_ptr<ReproduceRequest>& request) {
  command.name("claims", request->claims, ValueKind::claim,
               "names, as --list shows them, or globs ('cope-*'); without names all claims");
  command.flag("--list", request->list,
               "print the claims with the verdicts that come with posbench, and run nothing");
  command.flag("--dry-run", request->dry_run, "print the runs and their estimated core time, and run nothing")
      .excludes("--list");
  command.flag(
      "--full", [request] { request->size = ClaimSize::full; },
      "train at the full size, which is the published one or the closest that the suite has; most claims then need a cluster; "
      "with --list, the verdicts at this size");
  command.folder("-o,--output", request->directory, "directory of the runs")
      .default_text("runs/claims, runs/claims-full or runs/confirmation")
      .output();
  command
      .number("-s,--seeds", request->seeds, 1, kMaxSeeds,
              "least number of seeds of each run, as 'reason of the verdict' in --list proposes it")
      .default_text("that of the claims");
  command
      .flag(
          "--confirm", [request] { request->size = ClaimSize::confirmation; },
          "train the registered seeds of claims that were frozen before, once; with --list, the verdicts of these runs")
      .excludes("--full")
      .excludes("--seeds");
  command
      .number("-j,--jobs", request->jobs, 1, 4096,
              "number of experiments at once; each also uses cores that are idle")
      .default_text("all cores")
      .excludes("--list");
  command
      .text(
          "--shard", [request](const std::string& text) { request->shard = Shard::parse(text); },
          "part of the runs, K/N: every N-th from the K-th on")
      .default_text("1/1")
      .excludes("--list");
  command
      .folder("--with", request->with,
              "directories of other runs or shards; their finished runs and seeds are not trained again")
      .default_text("none");
  command.flag("--judge-only", request->judge_only, "judge by the finished runs and train nothing")
      .excludes("--list")
      .excludes("--dry-run")
      .excludes("--jobs")
      .excludes("--shard");
  command
      .flag("--finished", request->finished,
            "with --judge-only: judge only the claims whose runs are all finished")
      .needs("--judge-only");
  add_format(command, request->output);
  command.explain(
      {{"posbench reproduce --list", "all claims"},
       {"posbench reproduce cope-flip-flop-longer --dry-run", "the runs of one claim"},
       {"posbench reproduce cope-counting-5 -s 41 -o claims/more --with claims/1", "more seeds than in claims/1"},
       {"posbench reproduce -o claims/1 --shard 1/2", "and on another machine: -o claims/2 --shard 2/2"},
       {"posbench reproduce -o claims/1 --with claims/2 --judge-only --format html >claims.html", ""}},
      {"Claims with equal settings share their runs. Finished runs are not repeated. The same command continues "
       "an interrupted run."});
}

}  // namespace

void add_reproduce(CommandLine& line) {
  const auto request = std::make_shared<ReproduceRequest>();
  Command& command = line.add(kRunning, "reproduce",
                              "Train the runs that published claims need, and judge the claims by fixed rules");
  add_options(command, request);
  command.run([request, &line] {
    request->command = line.arguments;
    return reproduce(*request);
  });
}

}  // namespace posbench
