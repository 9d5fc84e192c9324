#include "harness/console/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

#include "base/printable.h"
#include "harness/console/message.h"

namespace posbench {

std::string format_duration(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  const int minutes = static_cast<int>(std::lround(seconds / 60));
  if (minutes < 100) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

Progress::Progress(std::string_view text, double work)
    : work_(work), is_terminal_(can_redraw()), text_(to_one_line(text)) {
  if (is_quiet() || (work > 0 && !is_terminal_)) return;
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

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
  clear();
}

void Progress::set_text(std::string_view text) {
  const std::lock_guard lock(mutex_);
  text_ = to_one_line(text);
}

void Progress::set_progress(size_t done, size_t total) {
  const std::lock_guard lock(mutex_);
  done_ = done;
  total_ = total;
}

void Progress::advance(double work) {
  const std::lock_guard lock(mutex_);
  work_done_ += work;
}

void Progress::write(const std::string& lines) {
  const std::lock_guard lock(mutex_);
  const bool was_drawn = is_drawn_;
  erase();
  write_message(lines);
  if (was_drawn) draw();
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  erase();
}

std::string Progress::time_left() {
  const std::lock_guard lock(mutex_);
  return estimate();
}

void Progress::redraw_until_done() {
  using std::chrono::duration;
  std::unique_lock lock(mutex_);
  const auto wait = [&](double seconds) {
    return ended_.wait_for(lock, duration<double>(seconds), [&] { return has_ended_; });
  };
  if (work_ == 0 && wait(2)) return;
  do {
    draw();
  } while (!wait(is_terminal_ ? 0.5 : 30));
}

void Progress::draw() {
  constexpr int kMaxBar = 30, kMinBar = 5;
  const std::string count = total_ > 0 ? fmt::format(", {} of {}", done_, total_) : "";
  std::string line = fmt::format("{}{}, {}", text_, count, work_ > 0 ? estimate() : format_duration(seconds()));
  is_drawn_ = true;
  if (!is_terminal_) return write_message(line + "\n");
  const int columns = message_width() > 0 ? message_width() : 80;
  const int width = std::min(columns - static_cast<int>(line.size()) - 4, kMaxBar);  // a wrapped line stays
  if (work_ > 0 && width >= kMinBar) {
    const int filled = static_cast<int>(width * std::min(1.0, work_done_ / work_));
    line += fmt::format(" [{:#<{}}{:.<{}}]", "", filled, "", width - filled);
  }
  write_message("\r\x1b[K" + line.substr(0, static_cast<size_t>(std::max(columns - 1, 1))));
}

void Progress::erase() {
  if (is_drawn_ && is_terminal_) write_message("\r\x1b[K");
  is_drawn_ = false;
}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

std::string Progress::estimate() const {
  const double elapsed = seconds();
  if (elapsed < 2 || work_done_ <= 0) return "estimating the time left";
  return "about " + format_duration(elapsed * std::max(0.0, work_ - work_done_) / work_done_) + " left";
}

}  // namespace posbench
