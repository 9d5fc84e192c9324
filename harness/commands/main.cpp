// The program. Exit codes: 0 success; 1 the command ran and the answer is no, or the machine failed (disk, memory,
// output); 2 invalid usage or input; 3 a defect of posbench; 130 interrupted.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/signals.h"
#include "base/system.h"
#include "harness/commands/commands.h"
#include "harness/config/user_files.h"
#include "harness/console/message.h"
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

/// Opens the descriptors that the caller has closed. Otherwise the files of a run would get them, and messages
/// would be written into these files. Writing to a closed standard output fails; a closed standard error is
/// ignored.
void open_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    const int opened =
        open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);  // gets the lowest free descriptor
    if (opened >= 0 && opened != descriptor) close(opened);
  }
}

/// Flushes standard output. Returns false, after a message, if something could not be written.
bool flush_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  write_error(fmt::format("cannot write to standard output{}{}", errno != 0 ? ": " : "",
                          errno != 0 ? std::strerror(errno) : ""));
  return false;
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
