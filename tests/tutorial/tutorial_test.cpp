// Runs the commands of docs/tutorial.md in order, with a program that contains its code, and compares their output
// with the page.
#include <fnmatch.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

struct Step {
  std::string command, output;
};

std::string stripped(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// Returns the lines after "$ " in the console blocks of the page, each with the lines below it.
std::vector<Step> read_steps() {
  std::vector<Step> steps;
  std::ifstream page(TUTORIAL);
  bool in_block = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      in_block = line == "```console";
    } else if (in_block && line.starts_with("$ ")) {
      steps.push_back({line.substr(2), ""});
    } else if (in_block) {
      steps.back().output += stripped(line) + "\n";
    }
  }
  return steps;
}

/// Returns a glob, in which "..." matches anything.
std::string glob_of(const std::string& text) {
  std::string pattern;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "...") == 0) {
      pattern += '*';
      i += 2;
    } else {
      if (std::string("*?[\\").find(text[i]) != std::string::npos) pattern += '\\';
      pattern += text[i];
    }
  }
  return pattern;
}

std::string without_trailing_spaces(const std::string& text) {
  std::string result, line;
  for (std::istringstream lines(text); std::getline(lines, line);) result += stripped(line) + "\n";
  return result;
}

/// Removes the lines of progress, which a command prints after two seconds: "reading the board, 2 s".
std::string without_progress(const std::string& text) {
  const std::regex progress(".*, [0-9]+ (s|min)(, .*)?");
  std::string result, line;
  for (std::istringstream lines(text); std::getline(lines, line);) {
    if (!std::regex_match(line, progress)) result += line + "\n";
  }
  return result;
}

}  // namespace

TEST_CASE("the tutorial's commands print what the page shows") {
  const TemporaryDirectory directory;
  const std::vector<Step> all = read_steps();
  CHECK(all.size() >= 6);
  for (const Step& step : all) {
    const std::string command = "cd '" + (directory / "").string() + "' && PATH='" PROGRAM_FOLDER "':$PATH && " +
                                step.command + " > .out 2> .err";
    const int status = std::system(command.c_str());
    const std::string out = without_trailing_spaces(read_whole(directory / ".out"));
    CAPTURE(step.command, out, read_whole(directory / ".err"));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(without_progress(read_whole(directory / ".err")).empty());
    INFO("expected:\n" << step.output);
    CHECK(fnmatch(glob_of(step.output).c_str(), out.c_str(), 0) == 0);
  }
}
