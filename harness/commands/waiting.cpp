#include "harness/commands/waiting.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <system_error>

#include "base/printable.h"
#include "harness/commands/message.h"
#include "harness/commands/progress.h"

namespace posbench {

Waiting::Waiting(std::string what) : what_(one_line(what)), terminal_(isatty(STDERR_FILENO) == 1) {
  if (is_quiet()) return;
  try {
    thread_ = std::thread([this] {
      try {
        run();
      } catch (const std::exception&) {  // no memory for a line
      }
    });
  } catch (const std::system_error&) {  // no room for a thread: the work matters more
  }
}

Waiting::~Waiting() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
  clear();
}

void Waiting::count(size_t done, size_t of) {
  const std::lock_guard lock(mutex_);
  finished_ = done;
  all_ = of;
}

void Waiting::now(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = one_line(what);
}

void Waiting::clear() {
  const std::lock_guard lock(mutex_);
  if (drawn_ && terminal_) write_message("\r\x1b[K");
  drawn_ = false;
}

void Waiting::run() {
  using std::chrono::duration;
  std::unique_lock lock(mutex_);
  const auto start = std::chrono::steady_clock::now();
  const auto wait = [&](double seconds) { return ended_.wait_for(lock, duration<double>(seconds), [&] { return done_; }); };
  if (wait(2)) return;
  do {
    seconds_ = duration<double>(std::chrono::steady_clock::now() - start).count();
    draw();
  } while (!wait(terminal_ ? 0.5 : 30));
}

void Waiting::draw() {
  const std::string of = all_ > 0 ? fmt::format(", {} of {}", finished_, all_) : "";
  const std::string text = fmt::format("{}{}, {}", what_, of, duration(seconds_));
  write_message(terminal_ ? "\r\x1b[K" + text : text + "\n");
  drawn_ = true;
}

}  // namespace posbench
