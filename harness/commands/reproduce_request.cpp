#include "harness/commands/reproduce_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/commands/commands.h"
#include "harness/console/help.h"
#include "harness/runs/claims.h"

namespace posbench {

namespace fs = std::filesystem;

void check_directory(const char* option, const fs::path& path) {
  if (fs::is_directory(path)) return;
  const auto is_path = [&](const ClaimFile& file) { return file.claim.name == path.string(); };
  const bool is_claim = std::string(option) == "--with" && std::ranges::any_of(claim_files(), is_path);
  throw InputError(fmt::format("{} {}: {}{}", option, path.string(),
                               fs::exists(path) ? "is a file, expected a directory" : "there is no such directory",
                               is_claim ? "; the names of claims come before --with" : ""));
}

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

void add_options(CLI::App& command, const std::shared_ptr<ReproduceRequest>& request) {
  command.add_option("claims", request->claims,
                     "names, as --list shows them, or globs ('cope-*'); without names all claims");
  CLI::Option* list = command.add_flag(
      "--list", request->list, "print the claims with the verdicts that come with posbench, and run nothing");
  std::vector<std::pair<std::string, ClaimVerdict>> verdicts;
  for (const ClaimVerdict verdict : kClaimVerdicts) verdicts.emplace_back(word_of(verdict), verdict);
  add_choice<std::optional<ClaimVerdict>, ClaimVerdict>(command, "--verdict", request->verdict, verdicts,
                                                        "with --list: only claims with this verdict")
      ->default_str("any")
      ->needs(list);
  CLI::Option* dry_run =
      command
          .add_flag(
              "--dry-run", request->dry_run,
              "print the runs and their estimated core time, on a console also that of each claim, and run nothing")
          ->excludes(list);
  command.add_flag_callback(
      "--full", [request] { request->size = ClaimSize::full; },
      "train at the published sizes, or the closest ones that the suite has; most claims then need a cluster; "
      "with --list, the verdicts at these sizes");
  command.add_option("-o,--output", request->directory, "directory of the runs")
      ->default_str("runs/claims, or runs/claims-full");
  command
      .add_option("-s,--seeds", request->seeds,
                  "least number of seeds of each run, as 'reason of the verdict' in --list proposes it")
      ->default_str("that of the claims")
      ->check(in_range({1, kMaxSeeds}));
  CLI::Option* jobs = command
                          .add_option("-j,--jobs", request->jobs,
                                      "number of experiments at once; each also uses cores that are idle")
                          ->default_str("all cores")
                          ->check(in_range({1, 4096}))
                          ->excludes(list);
  CLI::Option* shard =
      command
          .add_option_function<std::string>(
              "--shard", [request](const std::string& text) { request->shard = Shard::parse(text); },
              "part of the runs, K/N: every N-th from the K-th on")
          ->default_str("1/1")
          ->excludes(list);
  command
      .add_option("--with", request->with,
                  "directories of other runs or shards; their finished runs and seeds are not trained again")
      ->take_all()
      ->default_str("none");
  CLI::Option* judge_only =
      command.add_flag("--judge-only", request->judge_only, "judge by the finished runs and train nothing")
          ->excludes(list)
          ->excludes(dry_run)
          ->excludes(jobs)
          ->excludes(shard);
  command
      .add_flag("--finished", request->finished,
                "with --judge-only: judge only the claims whose runs are all finished")
      ->needs(judge_only);
  add_choice<std::optional<Format>, Format>(
      command, "--format", request->output.format,
      {{"console", Format::console},
       {"markdown", Format::markdown},
       {"csv", Format::csv},
       {"json", Format::json},
       {"html", Format::html},
       {"latex", Format::latex}},
      "format of the output; html: a page that shows each claim with a plot of the "
      "accuracies that decide it")
      ->default_str("console");
  add_color(command, request->output.color);
  set_footer(
      command,
      {{"posbench reproduce --list", "all claims"},
       {"posbench reproduce --list --verdict contradicted", "the claims that do not hold at the reduced size"},
       {"posbench reproduce cope-flip-flop-longer --dry-run", "the runs of one claim"},
       {"posbench reproduce cope-counting-5 -s 41 -o claims/more --with claims/1", "more seeds than in claims/1"},
       {"posbench reproduce -o claims/1 --shard 1/2", "and on another machine: -o claims/2 --shard 2/2"},
       {"posbench reproduce -o claims/1 --with claims/2 --judge-only --format html >claims.html", ""}},
      {"Claims with equal settings share their runs. Finished runs are not repeated. The same command continues "
       "an interrupted run."});
}

}  // namespace posbench
