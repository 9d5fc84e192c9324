#include "base/signals.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>

namespace posbench {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> interrupted{false};

void on_signal(int signal) {
  if (interrupted.exchange(true)) end_by_signal(signal);
}

/// The temporary files that a signal deletes. A handler can neither lock nor allocate.
struct TemporaryPath {
  std::atomic<bool> is_taken = false, is_complete = false;
  std::array<char, PATH_MAX> text{};
};
std::array<TemporaryPath, 64> temporary_paths;  // more at a time stay after a signal

}  // namespace

void add_temporary(const fs::path& path) {
  const std::string& text = path.native();
  if (text.size() >= PATH_MAX) return;
  for (TemporaryPath& slot : temporary_paths) {
    if (slot.is_taken.exchange(true)) continue;
    text.copy(slot.text.data(), text.size());
    slot.text.at(text.size()) = '\0';
    slot.is_complete = true;
    return;
  }
}

void drop_temporary(const fs::path& path) {
  for (TemporaryPath& slot : temporary_paths) {
    if (!slot.is_complete || path.native() != slot.text.data()) continue;
    slot.is_complete = false;
    slot.is_taken = false;
    return;
  }
}

SignalGuard::SignalGuard(void (*handler)(int)) {
  interrupted = false;
  for (size_t n = 0; n < kSignals.size(); ++n) {
    old_[n] = std::signal(kSignals[n], handler ? handler : on_signal);
    if (old_[n] == SIG_IGN) std::signal(kSignals[n], SIG_IGN);
  }
}

SignalGuard::~SignalGuard() {
  for (size_t n = 0; n < kSignals.size(); ++n) std::signal(kSignals[n], old_[n]);
  interrupted = false;
}

void end_by_signal(int signal) {
  for (const TemporaryPath& slot : temporary_paths) {
    if (slot.is_complete) unlink(slot.text.data());
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void remove_temporaries_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    if (std::signal(signal, end_by_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

void check_interrupted() {
  if (interrupted) throw Interrupted();
}

}  // namespace posbench
