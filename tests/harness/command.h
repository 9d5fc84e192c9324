// Runs the program as a user does, in a folder of the test.
#pragma once
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

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

}  // namespace posbench
