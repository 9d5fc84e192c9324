// Declares the commands, one file each. A command adds its options and its help; its callback runs it.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace posbench {

struct Invocation {
  std::vector<std::string> arguments;  // the whole command line
  int exit_code = 0;                   // set by the command that ran
};

// The groups of commands in the help and in docs/cli.md.
constexpr const char* kRunning = "Run experiments";
constexpr const char* kResults = "Look at results";
constexpr const char* kExplore = "Explore and extend tasks and encodings";
constexpr const char* kExchange = "Exchange samples and models with other programs";
constexpr const char* kSetUp = "Set up and get help";

void add_run(CLI::App&, Invocation&);
void add_merge(CLI::App&, Invocation&);
void add_reproduce(CLI::App&, Invocation&);
void add_verify(CLI::App&, Invocation&);

void add_report(CLI::App&, Invocation&);
void add_compare(CLI::App&, Invocation&);
void add_board(CLI::App&, Invocation&);
void add_card(CLI::App&, Invocation&);
void add_site(CLI::App&, Invocation&);
void add_separation(CLI::App&, Invocation&);
void add_inspect(CLI::App&, Invocation&);

void add_list(CLI::App&, Invocation&);
void add_show(CLI::App&, Invocation&);
void add_sample(CLI::App&, Invocation&);
void add_check(CLI::App&, Invocation&);
void add_bench(CLI::App&, Invocation&);

void add_export(CLI::App&, Invocation&);
void add_golden(CLI::App&, Invocation&);
void add_forward(CLI::App&, Invocation&);
void add_score(CLI::App&, Invocation&);

void add_completion(CLI::App&, Invocation&);
void add_help(CLI::App&, Invocation&);

}  // namespace posbench
