// Reads what the operating system knows about this process and this machine.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace posbench {

/// Returns the CPU seconds of this thread, which do not include the time that other programs take.
double thread_cpu_seconds();
/// Throws FileError if the CPU clock of this thread stands still while it works, so that nothing can be measured.
void check_cpu_clock();

inline constexpr const char* kOutOfMemory =
    "out of memory; use smaller models or sequences, fewer jobs, or more memory";
/// Makes the process end with a message and exit code 1 if memory runs out while an exception is handled: the JSON
/// library's destructors allocate.
void explain_termination();

/// Returns whether the stack may grow to 256 kB, which is enough for all commands. Writes a message if not.
bool has_stack();

/// Returns the value of the first line `NAME : VALUE` of a file such as /proc/cpuinfo; empty if there is none.
std::string system_entry(const std::filesystem::path&, std::string_view name);

}  // namespace posbench
