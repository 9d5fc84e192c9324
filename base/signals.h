// Ends commands that write files when a signal comes, without leaving temporary files.
#pragma once
#include <array>
#include <csignal>
#include <filesystem>
#include <stdexcept>

namespace posbench {

/// Ends the writing of a file. ~OutputFile() then deletes the temporary file.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted; nothing was written") {}
};

/// While it lives, the first signal that ends the process (SIGINT, SIGTERM, SIGHUP) makes check_interrupted()
/// throw instead. A second one ends the process at once. A signal that the caller ignores, as nohup does, stays
/// ignored.
class SignalGuard {
 public:
  /// The signals call `handler` instead, if it is given.
  explicit SignalGuard(void (*handler)(int) = nullptr);
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
  ~SignalGuard();

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<void (*)(int), kSignals.size()> old_{};
};

/// Deletes the temporary files of all OutputFiles and ends the process by a signal. A signal handler may call it.
void end_by_signal(int signal);
/// Makes the signals that end the process call end_by_signal(), unless the caller ignores them.
void remove_temporaries_on_signals();

/// Throws Interrupted if a signal came while a SignalGuard lives.
void check_interrupted();

/// Adds a temporary file to those that end_by_signal() deletes, or removes it from them. Of more than 64 at a time
/// some are not deleted.
void add_temporary(const std::filesystem::path&);
void drop_temporary(const std::filesystem::path&);

}  // namespace posbench
