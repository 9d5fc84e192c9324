#include "harness/commands/reproduce_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/commands/commands.h"
#include "harness/console/command.h"
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

void add_options(Command& command, const std::shared_ptr<ReproduceRequest>& request) {
  command.name("claims", request->claims, ValueKind::claim,
               "names, as --list shows them, or globs ('cope-*'); without names all claims");
  command.flag("--list", request->list,
               "print the claims with the verdicts that come with posbench, and run nothing");
  std::vector<std::pair<std::string, ClaimVerdict>> verdicts;
  for (const ClaimVerdict verdict : kClaimVerdicts) verdicts.emplace_back(word_of(verdict), verdict);
  command
      .choice<std::optional<ClaimVerdict>, ClaimVerdict>("--verdict", request->verdict, verdicts,
                                                         "with --list: only claims with this verdict")
      .default_text("any")
      .needs("--list");
  command
      .flag("--dry-run", request->dry_run,
            "print the runs and their estimated core time, on a console also that of each claim, and run nothing")
      .excludes("--list");
  command.flag(
      "--full", [request] { request->size = ClaimSize::full; },
      "train at the published sizes, or the closest ones that the suite has; most claims then need a cluster; "
      "with --list, the verdicts at these sizes");
  command.folder("-o,--output", request->directory, "directory of the runs")
      .default_text("runs/claims, or runs/claims-full")
      .output();
  command
      .number("-s,--seeds", request->seeds, 1, kMaxSeeds,
              "least number of seeds of each run, as 'reason of the verdict' in --list proposes it")
      .default_text("that of the claims");
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
  command
      .choice<std::optional<Format>, Format>(
          "--format", request->output.format,
          {{"console", Format::console},
           {"markdown", Format::markdown},
           {"csv", Format::csv},
           {"json", Format::json},
           {"html", Format::html},
           {"latex", Format::latex}},
          "format of the output; html: a page that shows each claim with a plot of the accuracies that decide it")
      .default_text("console");
  add_color(command, request->output.color);
  command.explain(
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
