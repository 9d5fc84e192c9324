// The verbs of the command line, one file each. A verb adds its flags and its help, and when it is parsed it runs.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace posbench {

struct Invocation {
  std::vector<std::string> words;  // the command as it was typed
  int code = 0;                    // the exit code, set by the verb that ran
};

void add_run(CLI::App&, Invocation&);
void add_list(CLI::App&, Invocation&);
void add_show(CLI::App&, Invocation&);
void add_sample(CLI::App&, Invocation&);
void add_check(CLI::App&, Invocation&);
void add_merge(CLI::App&, Invocation&);
void add_compare(CLI::App&, Invocation&);
void add_report(CLI::App&, Invocation&);
void add_inspect(CLI::App&, Invocation&);
void add_export(CLI::App&, Invocation&);
void add_score(CLI::App&, Invocation&);
void add_forward(CLI::App&, Invocation&);
void add_bench(CLI::App&, Invocation&);
void add_reproduce(CLI::App&, Invocation&);
void add_board(CLI::App&, Invocation&);
void add_separation(CLI::App&, Invocation&);
void add_verify(CLI::App&, Invocation&);
void add_completion(CLI::App&, Invocation&);

}  // namespace posbench
