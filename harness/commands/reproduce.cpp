// `posbench reproduce`: are published claims true here?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/parallel_for.h"
#include "harness/commands/commands.h"
#include "harness/commands/help.h"
#include "harness/commands/message.h"
#include "harness/commands/outcome.h"
#include "harness/commands/output.h"
#include "harness/commands/run.h"
#include "harness/commands/terminal.h"
#include "harness/commands/waiting.h"
#include "harness/runs/claims.h"
#include "harness/runs/plan.h"
#include "harness/runs/suite.h"
#include "results/presentation/claims_page.h"
#include "results/presentation/claims_text.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

constexpr double kAlpha = 0.05;

struct ReproduceRequest {
  std::vector<std::string> claims;  // names; all where there are none
  ClaimSize size = ClaimSize::reduced;
  std::optional<fs::path> directory, page;
  std::vector<fs::path> with;  // more directories to judge by
  int jobs = 0;
  Shard shard;
  bool list = false, dry_run = false, judge_only = false;
  Format format = Format::console;
  std::string color = "auto";
  std::vector<std::string> command;
};

std::string formatted(const Table& table, Format format, bool color) {
  switch (format) {
    case Format::markdown:
      return markdown(table);
    case Format::csv:
      return csv(table);
    default:
      return console(table, {console_width(), color});
  }
}

/// `--dry-run`: what each run would take on one core here.
void print_plan(const ClaimPlan& plan, const Shard& shard, int jobs, bool color) {
  Table table{{{"run"}, {"task"}, {"encoding"}, {"seeds", Align::right}, {"core minutes", Align::right}}, {}};
  double seconds = 0;
  Waiting waiting("measuring the runs");
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    waiting.count(i, plan.runs.size());
    if (!shard.has(i)) continue;
    const Config& config = plan.runs[i].config;
    const Plan of_run = make_plan(make_suite(config), jobs, [](size_t, size_t) {});
    seconds += of_run.core_seconds;
    table.rows.push_back({plan.runs[i].name, config.tasks.front(), config.encodings.front(),
                          fmt::format("{}", config.seeds.size()),
                          fmt::format("{:.1f}", of_run.core_seconds / 60)});
  }
  waiting.clear();
  print(table, color);
  fmt::print("{} claims, {} runs; about {:.1f} hours of core time, {:.1f} hours with {} jobs\n",
             plan.claims.size(), table.rows.size(), seconds / 3600, seconds / 3600 / jobs, jobs);
}

/// Trains what is not finished yet. Returns the exit code of the first run that was interrupted or could not
/// write.
int train(const ReproduceRequest& request, const ClaimPlan& plan, const fs::path& directory) {
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const fs::path path = directory / plan.runs[i].name;
    if (!request.shard.has(i) || !find_report(path).empty()) continue;
    if (!is_quiet()) {
      write_message(fmt::format("run {} of {}: {}\n", i + 1, plan.runs.size(), plan.runs[i].name));
    }
    RunRequest run_request;
    run_request.jobs = request.jobs;
    run_request.directory = path;
    run_request.existing = Existing::resume;
    run_request.outcome = false;
    run_request.resume_by_flag = false;
    run_request.verbosity = is_quiet() ? Verbosity::quiet : Verbosity::normal;
    run_request.color = request.color;
    run_request.command = request.command;
    if (const int code = run(plan.runs[i].config, run_request)) return code;
  }
  return 0;
}

int reproduce(const ReproduceRequest& request) {
  if (request.directory && request.directory->extension() == ".html") {
    throw std::invalid_argument(fmt::format("-o {0} names a page, expected the directory of the runs; the page is --page {0}",
                                            request.directory->string()));
  }
  const ClaimPlan plan = plan_claims(request.claims, request.size);
  const bool color = wants_color(request.color);
  const int jobs = request.jobs > 0 ? request.jobs : all_cores();
  if (request.list) {
    fmt::print("{}", formatted(claim_list(plan.claims), request.format, color));
    return 0;
  }
  if (request.dry_run) {
    print_plan(plan, request.shard, jobs, color);
    return 0;
  }
  const fs::path directory =
      request.directory.value_or(request.size == ClaimSize::full ? "runs/claims-full" : "runs/claims");
  if (!request.judge_only) {
    make_folder(directory);
    if (const int code = train(request, plan, directory)) return code;
  }
  AllEvidence evidence = collect_evidence(plan, directory);
  for (const fs::path& other : request.with) evidence.merge(collect_evidence(plan, other));
  const std::vector<ClaimResult> results = judge(plan.claims, evidence, kAlpha);
  const std::string json = pretty(to_json(plan.claims, results, evidence, request.size, kAlpha));
  if (!request.judge_only) write_file(directory / "claims.json", json);
  const std::optional<fs::path> page =
      request.page || request.judge_only ? request.page : std::optional(directory / "claims.html");
  if (page) write_file(*page, claims_page(plan.claims, results, evidence, to_text(request.size)));
  if (request.format == Format::json) {
    fmt::print("{}", json);
    return 0;
  }
  const bool document = request.format == Format::markdown;
  const Table table = document ? claim_statements(plan.claims, results) : claim_table(plan.claims, results);
  fmt::print("{}", formatted(table, request.format, color));
  if (request.format == Format::csv) return 0;
  fmt::print("\n");
  for (const std::string& note : claim_notes(plan.claims, results)) {
    fmt::print("{}\n", document ? "* " + markdown_text(note) : note);
  }
  if (!request.judge_only) fmt::print("\nclaims: {}\n", (directory / "claims.json").string());
  if (page) fmt::print("{}page: {}\n", request.judge_only ? "\n" : "", page->string());
  return 0;
}

}  // namespace

void add_reproduce(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<ReproduceRequest>();
  CLI::App* command = app.add_subcommand(
      "reproduce", "Train the runs that published claims need, and judge the claims by rules fixed beforehand");
  command->add_option("claims", request->claims, "names ('--list' shows them); all if no name is given");
  command->add_flag("--list", request->list, "print the claims");
  command->add_flag("--dry-run", request->dry_run,
                    "print the runs and an estimate of their hours, from a calibration");
  command->add_flag_callback(
      "--full", [request] { request->size = ClaimSize::full; },
      "train at the published sizes instead of the reduced ones; most claims then need a cluster");
  command->add_option("-o,--output", request->directory,
                      "the directory of the runs")
      ->default_str("runs/claims, or runs/claims-full");
  command->add_option("-j,--jobs", request->jobs, "experiments at once, one thread each")
      ->default_str("all cores")
      ->check(CLI::Range(1, 4096));
  command->add_option_function<std::string>(
      "--shard", [request](const std::string& text) { request->shard = Shard::parse(text); },
      "K/N: every N-th run from the K-th on, here or on another machine")
      ->default_str("1/1");
  command->add_option("--with", request->with, "directories of other shards, whose runs are used as well")
      ->take_all()
      ->default_str("none");
  command
      ->add_option("--page", request->page,
                   "the file of the page, which has each claim with a plot of the accuracies that decide it")
      ->default_str("claims.html in the directory; none with --judge-only");
  command->add_flag("--judge-only", request->judge_only, "train nothing; judge by the finished runs");
  add_choice<Format, Format>(
      *command, "--format", request->format,
      {{"console", Format::console}, {"markdown", Format::markdown}, {"csv", Format::csv}, {"json", Format::json}},
      "the format; Markdown also has the statements and their sources");
  add_color(*command, request->color);
  command->footer(
      "Claims of equal settings share their runs. A finished run is not repeated, and an interrupted one continues:\n"
      "call the same command again.\n"
      "Examples:\n"
      "  posbench reproduce --list\n"
      "  posbench reproduce cope-flip-flop-sparse --dry-run\n"
      "  posbench reproduce -o claims/1 --shard 1/2   and, elsewhere, -o claims/2 --shard 2/2\n"
      "  posbench reproduce -o claims/1 --with claims/2 --judge-only --page claims.html");
  command->callback([request, &invocation] {
    request->command = invocation.words;
    invocation.code = reproduce(*request);
  });
}

}  // namespace posbench
