// Runs the program as a user does, in a folder of the test.
#pragma once
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/catch.h"
#include "tests/temporary.h"

namespace posbench {

struct Outcome {
  int code = -1;
  std::string out, error;
};

inline Outcome posbench_command(const TemporaryDirectory& directory, const std::string& arguments) {
  const std::string command = "cd '" + (directory / "").string() + "' && '" POSBENCH_PROGRAM "' " + arguments +
                              " >'" + (directory / ".out").string() + "' 2>'" + (directory / ".err").string() +
                              "'";
  const int status = std::system(command.c_str());
  Outcome outcome{WEXITSTATUS(status), read_whole(directory / ".out"), read_whole(directory / ".err")};
  std::filesystem::remove(directory / ".out");
  std::filesystem::remove(directory / ".err");
  return outcome;
}

/// Runs the program with arguments that must succeed.
inline Outcome succeeded(const TemporaryDirectory& directory, const std::string& arguments) {
  Outcome outcome = posbench_command(directory, arguments);
  INFO(arguments << ": " << outcome.error);
  REQUIRE(outcome.code == 0);
  return outcome;
}

/// Returns the message with which the program refuses the arguments. Empty if it does not refuse them with exit
/// code 2, one line and no output.
inline std::string refusal(const TemporaryDirectory& directory, const std::string& arguments) {
  const Outcome outcome = posbench_command(directory, arguments);
  const bool is_line =
      outcome.error.starts_with("posbench: ") && outcome.error.find('\n') + 1 == outcome.error.size();
  return outcome.code == 2 && outcome.out.empty() && is_line ? outcome.error : "";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace posbench
