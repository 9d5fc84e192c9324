// Runs the program as a separate process, which a test can kill or limit.
#pragma once
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace posbench {

class Process {
 public:
  /// Starts posbench in `folder`, after `prepare` in the child; its messages are written to the file `.messages`
  /// there.
  Process(const std::filesystem::path& folder, std::vector<std::string> words,
          const std::function<void()>& prepare = {})
      : messages_(folder / ".messages") {
    std::string program = POSBENCH_PROGRAM;
    std::vector<char*> arguments{program.data()};
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ != 0) return;
    const int messages = open(messages_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (chdir(folder.c_str()) != 0 || dup2(nothing, STDOUT_FILENO) < 0 || dup2(messages, STDERR_FILENO) < 0)
      _exit(99);
    if (prepare) prepare();
    execv(arguments[0], arguments.data());
    _exit(98);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (pid_ > 0) finish(SIGKILL);
  }

  /// Returns whether the process has ended.
  bool has_ended() {
    if (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = 0;
    return pid_ == 0;
  }
  /// Sends a signal if one is given, and waits for the end. Returns the exit code, or 128 plus the signal that
  /// ended it.
  int finish(int signal = 0) {
    if (pid_ > 0) {
      if (signal != 0) kill(pid_, signal);
      waitpid(pid_, &status_, 0);
      pid_ = 0;
    }
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  }
  std::filesystem::path messages() const { return messages_; }

 private:
  std::filesystem::path messages_;
  pid_t pid_ = -1;
  int status_ = 0;
};

}  // namespace posbench
