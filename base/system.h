// Reads what the operating system knows about this process and this machine.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace posbench {

/// Returns the CPU seconds of this thread, which do not include the time that other programs take.
double thread_cpu_seconds();
/// Returns the CPU seconds of all threads of this process.
double process_cpu_seconds();

/// Returns the value of the first line `NAME : VALUE` of a file such as /proc/cpuinfo; empty if there is none.
std::string system_entry(const std::filesystem::path&, std::string_view name);

}  // namespace posbench
