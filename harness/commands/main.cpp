// The program. Its exit codes: 0 fine; 1 it ran and the answer is no, or the machine failed (disk, memory, output);
// 2 bad usage, configuration or input; 3 internal failure; 130 interrupted, and what was under way is kept. A signal
// that ends the process at once gives 128 and its number, as the shell shows it.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "harness/commands/command_line.h"
#include "harness/commands/message.h"
#include "harness/commands/standard_streams.h"
#include "model/kernels.h"

namespace posbench {
namespace {

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
