// Checks that `export` and `score` destroy no other file, and leave none if they are interrupted.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/harness/process.h"
#include "tests/temporary.h"

using namespace posbench;
namespace fs = std::filesystem;

namespace {

/// Waits until the process writes a temporary file. Returns false if the process ends before.
bool wait_for_temporary(Process& process, const fs::path& folder) {
  while (!process.has_ended()) {
    for (const auto& entry : fs::directory_iterator(folder))
      if (is_temporary(entry.path())) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

std::vector<std::string> files(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("a signal that ends export leaves no file") {
  const TemporaryDirectory directory;
  directory.write("config.json", R"({"profile": "smoke"})");
  const std::string command = GENERATE(
      "export flip_flop -n 1000000000 -q -o s.jsonl", "export flip_flop -n 200000 -q -o s.safetensors",
      "export config.json flip_flop rope --initial -n 100000 -q -o s.safetensors --model-output m.safetensors");
  const int signal = GENERATE(SIGINT, SIGTERM);
  CAPTURE(command, signal);
  Process process(directory / "", split_list(command, ' '));
  REQUIRE(wait_for_temporary(process, directory / ""));
  CHECK(process.finish(signal) == 130);
  CHECK(read_whole(process.messages()) == "interrupted; nothing was written\n");
  CHECK(files(directory / "") == std::vector<std::string>{".messages", "config.json"});
}

TEST_CASE("export ends at the first failed write to standard output") {
  const TemporaryDirectory directory;
  Process process(directory / "", {"export", "flip_flop", "-n", "1000000000", "-q"}, [] {
    const rlimit seconds{20, 20};
    setrlimit(RLIMIT_CPU, &seconds);
    dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
  });
  CHECK(process.finish() == 1);
  CHECK(read_whole(process.messages()).starts_with("posbench: cannot write to standard output"));
}

TEST_CASE("no command replaces the manifest of its answers, or a file that is no manifest") {
  const TemporaryDirectory directory;
  const std::string samples = "export even_pairs --split in_distribution -n 3 -o x.jsonl";
  succeeded(directory, samples);
  const std::string about = read_whole(directory / "x.jsonl.manifest.json");
  CHECK(contains(refusal(directory, "score x.jsonl --name x -o./x.jsonl.manifest.json"),
                 "is './x.jsonl.manifest.json', an input of this command, which would be lost; choose another"));
  CHECK(read_whole(directory / "x.jsonl.manifest.json") == about);
  succeeded(directory, samples);  // a manifest may be replaced with its samples

  for (const std::string text : {"{\"seeds\": [1, 2]}", "{\"format\": \"posbench report 4\"}", "notes"}) {
    directory.write("y.safetensors.manifest.json", text);
    directory.write("config.json", "{}");
    for (const std::string command :
         {"export even_pairs -n 3", "export rope", "export config.json even_pairs rope --initial -n 1"}) {
      CHECK(
          refusal(directory, command + " -o y.safetensors") ==
          "posbench: 'y.safetensors.manifest.json' is no manifest, and would be lost; move it, or choose another -o\n");
    }
    CHECK(read_whole(directory / "y.safetensors.manifest.json") == text);
    CHECK_FALSE(fs::exists(directory / "y.safetensors"));
  }
  succeeded(directory, "export even_pairs -n 3 -o y.safetensors --manifest about.json");
}

TEST_CASE("score refuses a folder") {
  const TemporaryDirectory directory;
  fs::create_directory(directory / "answers");
  CHECK(refusal(directory, "score answers --name x -o s.json") ==
        "posbench: answers is a folder, expected a .safetensors or .jsonl file\n");
}

TEST_CASE("the bounds of sample numbers are integers in the help and in messages") {
  const TemporaryDirectory directory;
  for (const std::string command : {"export flip_flop", "export run flip_flop rope"}) {
    CHECK(contains(refusal(directory, command + " --first 1e12"),
                   "'1e12' is not a number from 0 to 1000000000000 "));
    CHECK(contains(refusal(directory, command + " -n 1.5"), "'1.5' is not a number from 1 to 1000000000000 "));
    const std::string help = posbench_command(directory, command + " --help").out;
    CHECK(contains(help, "; 0 to 1000000000000 "));
    CHECK_FALSE(contains(help, "e+12"));
  }
}
