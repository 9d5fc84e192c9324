// Shows the state of a command that takes long.
#pragma once
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace posbench {

/// Writes the current work to standard error while it lives, from its third second on: on a terminal as a line
/// that is redrawn, elsewhere as a line every half minute. Silent with --quiet.
class StatusLine {
 public:
  explicit StatusLine(std::string_view text);  // "measuring trivial predictors"
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Shows "done of total". May be called from any thread, as may all of these.
  void set_progress(size_t done, size_t total);
  void set_text(std::string_view text);
  /// Removes the line before something else is printed. It is drawn again later.
  void clear();

 private:
  void redraw_until_done();
  void draw();  // with the lock held

  std::string text_;
  bool terminal_, is_drawn_ = false, is_done_ = false;
  double seconds_ = 0;
  size_t progress_ = 0, total_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::thread thread_;
};

}  // namespace posbench
