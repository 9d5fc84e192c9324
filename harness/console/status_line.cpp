#include "harness/console/status_line.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>

#include "base/printable.h"
#include "harness/console/message.h"
#include "harness/console/progress.h"
#include "harness/console/terminal.h"

namespace posbench {

StatusLine::StatusLine(std::string_view text) : text_(to_one_line(text)), terminal_(can_redraw()) {
  if (is_quiet()) return;
  try {
    thread_ = std::thread([this] {
      try {
        redraw_until_done();
      } catch (const std::exception&) {  // without memory there is no line
      }
    });
  } catch (const std::system_error&) {  // without a thread there is no line
  }
}

StatusLine::~StatusLine() {
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
  clear();
}

void StatusLine::set_progress(size_t done, size_t total) {
  const std::lock_guard lock(mutex_);
  progress_ = done;
  total_ = total;
}

void StatusLine::set_text(std::string_view text) {
  const std::lock_guard lock(mutex_);
  text_ = to_one_line(text);
}

void StatusLine::clear() {
  const std::lock_guard lock(mutex_);
  if (is_drawn_ && terminal_) write_message("\r\x1b[K");
  is_drawn_ = false;
}

void StatusLine::redraw_until_done() {
  using std::chrono::duration;
  std::unique_lock lock(mutex_);
  const auto start = std::chrono::steady_clock::now();
  const auto wait = [&](double seconds) {
    return ended_.wait_for(lock, duration<double>(seconds), [&] { return is_done_; });
  };
  if (wait(2)) return;
  do {
    seconds_ = duration<double>(std::chrono::steady_clock::now() - start).count();
    draw();
  } while (!wait(terminal_ ? 0.5 : 30));
}

void StatusLine::draw() {
  const std::string progress = total_ > 0 ? fmt::format(", {} of {}", progress_, total_) : "";
  const std::string line = fmt::format("{}{}, {}", text_, progress, format_duration(seconds_));
  write_message(terminal_ ? "\r\x1b[K" + line : line + "\n");
  is_drawn_ = true;
}

}  // namespace posbench
