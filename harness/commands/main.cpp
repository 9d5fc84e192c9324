// The command line. Each verb is a file of its own; here are the exit codes:
// 0 fine; 1 it ran and the answer is no, or the machine failed (disk, memory, output); 2 bad usage, configuration or
// input; 3 internal failure; 130 interrupted, and what was under way is kept. A signal that ends the process at once
// gives 128 and its number, as the shell shows it.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "harness/commands/commands.h"
#include "harness/commands/completion.h"
#include "harness/commands/licenses.h"
#include "harness/commands/message.h"
#include "harness/runs/context.h"
#include "harness/runs/plugins.h"
#include "model/kernels.h"

namespace posbench {
namespace {

/// Descriptors that the caller has closed would be given to the files of a run, and messages would be written into
/// them. What is written to a closed standard output fails; a closed standard error is ignored.
void open_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    const int opened = open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);  // the lowest that is free
    if (opened >= 0 && opened != descriptor) close(opened);
  }
}

/// Whether all of the output has been written; says so where it has not.
bool output_written() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  write_error(fmt::format("cannot write to standard output{}{}", errno != 0 ? ": " : "",
                          errno != 0 ? std::strerror(errno) : ""));
  return false;
}

int run_command_line(int argc, char** argv) {
  CLI::App app{"posbench: what can a transformer's position encoding do, and where does it break?"};
  app.set_version_flag("--version", version());
  app.add_flag_callback(
      "--licenses", [] { throw CLI::CallForVersion(license_notices(), 0); },
      "Print the licence notices of what is linked and embedded, and exit");
  app.add_flag_callback("--man-page", [&app] { throw CLI::CallForVersion(man_page(app), 0); })->group("");  // hidden
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  posbench run                   train and test the core encodings on the core tasks\n"
      "  posbench check mine            prove an encoding's gradients, or a task's generator\n"
      "  posbench show cope             what it computes, and its options\n"
      "Exit codes: 0 fine; 1 it ran and the answer is no, or disk, memory or output failed; 2 bad usage or input;\n"
      "3 internal failure; 130 interrupted; 128 and a signal's number where it ended the process at once.");
  app.add_option_function<std::vector<std::string>>(
         "--plugin",
         [](const std::vector<std::string>& paths) {
           for (const std::string& path : paths) load_plugin(path);
         },
         "A shared library with encodings and tasks of your own; may be repeated (docs/plugins.md)")
      ->envname("POSBENCH_PLUGINS")
      ->delimiter(':')
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("FILE");
  Invocation invocation{.words = {argv, argv + argc}};
  for (const auto add : {add_run, add_list, add_show, add_sample, add_check, add_merge, add_compare, add_report,
                         add_inspect, add_export, add_score, add_forward, add_bench, add_verify, add_completion,
                         add_reproduce, add_separation}) {
    add(app, invocation);
  }
  for (CLI::App* verb : app.get_subcommands({})) verb->fallthrough();  // --plugin may stand behind the verb
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    const std::string verb = app.get_subcommands().empty() ? "" : app.get_subcommands()[0]->get_name() + " ";
    write_error(fmt::format("{} ('posbench {}--help' shows the usage)", error.what(), verb));
    return 2;
  }
  return invocation.code;
}

int run_catching(int argc, char** argv) {
  try {
    if (const char* name = std::getenv("POSBENCH_ISA")) use_instruction_set(name);
    return run_command_line(argc, argv);
  } catch (const std::invalid_argument& error) {
    write_error(error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    write_error("out of memory");
    return 1;
  } catch (const std::runtime_error& error) {
    if (std::ferror(stdout) == 0) write_error(error.what());  // otherwise output_written() says it
    return 1;
  } catch (const std::exception& error) {
    write_error(fmt::format("internal failure: {}", error.what()));
    return 3;
  }
}

}  // namespace
}  // namespace posbench

int main(int argc, char** argv) {
  posbench::open_standard_descriptors();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that outgrows a limit is an error of write() like a full disk
  const int code = posbench::run_catching(argc, argv);
  const bool written = posbench::output_written();
  return code == 0 && !written ? 1 : code;
}
