// Declares the commands, one file each. A command adds its options and its help, and the function that runs it.
#pragma once
#include "harness/console/command.h"

namespace posbench {

// The groups of commands in the help and in docs/cli.md.
constexpr const char* kRunning = "Run experiments";
constexpr const char* kResults = "Look at results";
constexpr const char* kExplore = "Explore and extend tasks and encodings";
constexpr const char* kExchange = "Exchange samples and models with other programs";
constexpr const char* kSetUp = "Set up";

void add_run(CommandLine&);
void add_merge(CommandLine&);
void add_reproduce(CommandLine&);

void add_report(CommandLine&);
void add_compare(CommandLine&);
void add_board(CommandLine&);
void add_site(CommandLine&);
void add_inspect(CommandLine&);

void add_list(CommandLine&);
void add_show(CommandLine&);
void add_sample(CommandLine&);
void add_check(CommandLine&);
void add_bench(CommandLine&);

void add_export(CommandLine&);
void add_score(CommandLine&);

void add_completion(CommandLine&);

/// Parses the command line and runs its command. Returns the exit code.
int run_command_line(int argc, char** argv);

}  // namespace posbench
