// Shows the state of a command that takes long.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace posbench {

/// Writes the current work to standard error while it lives: on a terminal in a line that is redrawn, elsewhere in
/// a line every half minute. Silent with --quiet. All functions may be called from any thread.
class Progress {
 public:
  /// Appears after two seconds. If the work is known, in any unit, it appears at once, has the time that is left
  /// and is on terminals only.
  explicit Progress(std::string_view text, double work = 0);  // "measuring trivial predictors"
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void set_text(std::string_view text);
  /// Shows "done of total".
  void set_progress(size_t done, size_t total);
  /// Adds work that was done since the last call.
  void advance(double work);
  /// Writes lines above the line, even with --quiet.
  void write(const std::string& lines);
  /// Removes the line before something else is printed. It is drawn again later.
  void clear();
  /// Returns "about 12 min left".
  std::string time_left();

 private:
  using Clock = std::chrono::steady_clock;

  // The lock is held in the functions below.
  void redraw_until_done();
  void draw();
  void erase();
  double seconds() const;
  std::string estimate() const;

  const Clock::time_point start_ = Clock::now();
  const double work_;
  const bool is_terminal_;
  std::string text_;
  double work_done_ = 0;
  size_t done_ = 0, total_ = 0;
  bool is_drawn_ = false, has_ended_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::thread thread_;
};

/// Returns "41 s", "12 min" or "3 h 20 min".
std::string format_duration(double seconds);

}  // namespace posbench
