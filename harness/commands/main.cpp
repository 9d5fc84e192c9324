// The program. Exit codes: 0 success; 1 the command ran and the answer is no, or the machine failed (disk, memory,
// output); 2 invalid usage or input; 3 a defect of posbench; 130 interrupted.
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
#include <system_error>

#include "base/error.h"
#include "harness/commands/command_line.h"
#include "harness/config/user_files.h"
#include "harness/console/message.h"
#include "harness/console/standard_streams.h"
#include "model/kernels.h"

namespace posbench {
namespace {

constexpr const char* kOutOfMemory = "out of memory; use smaller models or sequences, fewer jobs, or more memory";

const std::terminate_handler default_terminate = std::get_terminate();

/// Ends the program if memory runs out while an exception is handled: the JSON library's destructors allocate. Any
/// other cause is a defect. Allocates nothing.
[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr cause = std::current_exception()) std::rethrow_exception(cause);
  } catch (const std::bad_alloc&) {
    for (const char* text : {"posbench: ", kOutOfMemory, "\n"}) {
      if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
    }
    std::_Exit(1);
  } catch (...) {
    default_terminate();
  }
  std::abort();
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
    write_error(
        fmt::format("defect of posbench: {}; please report it with the command and its input", error.what()));
    return 3;
  }
}

}  // namespace
}  // namespace posbench

int main(int argc, char** argv) {
  std::set_terminate(posbench::on_terminate);
  posbench::open_standard_descriptors();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that exceeds a limit then fails in write(), as on a full disk
  const int code = posbench::run_catching(argc, argv);
  const bool written = posbench::flush_output();
  return code == 0 && !written ? 1 : code;
}
