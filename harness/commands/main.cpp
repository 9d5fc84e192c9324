// The command line. Each verb is a file of its own; here are the exit codes:
// 0 fine; 1 it ran and the answer is no; 2 bad usage, configuration or input; 3 internal failure; 130 interrupted.
#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <csignal>
#include <cstdio>
#include <stdexcept>

#include "harness/commands/commands.h"
#include "harness/runs/context.h"

namespace posbench {
namespace {

int run_command_line(int argc, char** argv) {
  CLI::App app{"posbench: what can a transformer's position encoding do, and where does it break?"};
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  posbench run                   train and test the core encodings on the core tasks\n"
      "  posbench check mine            prove an encoding's gradients, or a task's generator\n"
      "  posbench show cope             what it computes, and its options\n"
      "Exit codes: 0 fine; 1 it ran and the answer is no; 2 bad usage or input; 3 internal failure; 130 "
      "interrupted.");
  Invocation invocation{.words = {argv, argv + argc}};
  for (const auto add : {add_run, add_list, add_show, add_sample, add_check, add_merge, add_compare, add_report,
                         add_inspect, add_bench}) {
    add(app, invocation);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "posbench: %s ('posbench %s--help' shows the usage)\n", error.what(),
                 app.get_subcommands().empty() ? "" : (app.get_subcommands()[0]->get_name() + " ").c_str());
    return 2;
  }
  return invocation.code;
}

}  // namespace
}  // namespace posbench

int main(int argc, char** argv) {
  // Eigen cuts long sums where the caches of the machine suggest; fixed sizes give the same bytes on every
  // machine.
  Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that outgrows a limit is an error of write() like a full disk
  try {
    return posbench::run_command_line(argc, argv);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "posbench: %s\n", error.what());
    return 2;
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "posbench: %s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "posbench: internal failure: %s\n", error.what());
    return 3;
  }
}
