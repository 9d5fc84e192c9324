// The program. Exit codes: 0 success; 1 the command ran and the answer is no, or the machine failed (disk, memory,
// output); 2 invalid usage or input; 3 a defect of posbench; 130 interrupted.
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/signals.h"
#include "base/system.h"
#include "harness/commands/command_line.h"
#include "harness/config/user_files.h"
#include "harness/console/message.h"
#include "harness/console/standard_streams.h"
#include "harness/exchange/plugins.h"
#include "model/kernels.h"

namespace posbench {
namespace {

void write_defect(const char* what) {
  const std::string plugins = plugins_text();
  write_error(plugins.empty()
                  ? fmt::format("defect of posbench: {}; please report it with the command and its input", what)
                  : fmt::format("{} or posbench has a defect: {}; correct it, or run without it", plugins, what));
}

bool is_exit_allowed = false;

/// If a plug-in is loaded, std::exit() writes a message that names the plug-ins and ends the process with code 3,
/// until main() allows it. No other code calls it.
void refuse_exit_of_plugins() {
  std::atexit([] {
    if (is_exit_allowed || plugins().empty()) return;
    write_error(fmt::format("{} ended the program; correct it, or run without it", plugins_text()));
    std::_Exit(3);
  });
}

int run_catching(int argc, char** argv) {
  try {
    if (const char* name = std::getenv("POSBENCH_ISA"); name && *name) use_instruction_set(name);
    return run_command_line(argc, argv);
  } catch (const InputError& error) {
    write_error(error.what());
    return 2;
  } catch (const FileError& error) {
    if (std::ferror(stdout) == 0) write_error(error.what());  // flush_output() reports a failed standard output
    return 1;
  } catch (const std::filesystem::filesystem_error& error) {
    write_error(text_of(error));
    return error.code().value() == ENAMETOOLONG ? 2 : 1;
  } catch (const std::system_error& error) {  // fmt throws it if standard output fails
    if (std::ferror(stdout) == 0) write_error(error.what());
    return 1;
  } catch (const std::bad_alloc&) {
    write_error(kOutOfMemory);
    return 1;
  } catch (const std::exception& error) {
    write_defect(error.what());
  } catch (...) {  // a plug-in may throw an int
    write_defect("an exception without a text");
  }
  return 3;
}

}  // namespace
}  // namespace posbench

int main(int argc, char** argv) {
  posbench::explain_termination();
  posbench::refuse_exit_of_plugins();
  posbench::open_standard_descriptors();
  if (!posbench::has_stack()) return 1;
  posbench::remove_temporaries_on_signals();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that exceeds a limit then fails in write(), as on a full disk
  const int code = posbench::run_catching(argc, argv);
  const bool written = posbench::flush_output();
  posbench::is_exit_allowed = true;
  return code == 0 && !written ? 1 : code;
}
