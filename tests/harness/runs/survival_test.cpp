// Interrupted runs give the same bytes as uninterrupted ones. kill_test.py kills runs at random moments. Every
// system call that changes a file fails once in fault_injection_test.py.
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/signals.h"
#include "results/json/json.h"
#include "tests/catch.h"
#include "tests/harness/process.h"
#include "tests/harness/report_json.h"
#include "tests/temporary.h"

using namespace posbench;
namespace fs = std::filesystem;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSteps = 600;  // which take longer than 3000 without a sanitizer
#else
constexpr int kSteps = 3000;
#endif

std::vector<std::string> command(const std::string& jobs, const std::string& checkpoint_every,
                                 std::vector<std::string> more) {
  std::vector<std::string> words{"run", "--profile", "smoke", "-t", "parity_check", "-e", "none,cope", "-s", "2"};
  words.insert(words.end(), {"--set", "training.steps=" + std::to_string(kSteps)});
  words.insert(words.end(), {"--set", "training.validate_every=" + std::to_string(kSteps / 3)});
  words.insert(words.end(), {"--save-models", "-q", "-o", "run", "-j", jobs});
  words.insert(words.end(), {"--checkpoint-every", checkpoint_every});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Everything that must not depend on interruptions: the report without context and timing, which its page has,
/// too, and the models.
std::map<std::string, std::string> outcome(const fs::path& run) {
  std::map<std::string, std::string> files{
      {"report.json", to_indented_json(without_context(run / "report.json"))}};
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    const std::string name = fs::relative(entry.path(), run).string();
    if (name != "report.json" && name != "report.html" && name != "manifest.json" && name != "experiments.jsonl")
      files[name] = entry.is_directory() ? "" : read_whole(entry.path());
  }
  return files;
}

/// Returns the files of an uninterrupted run.
const std::map<std::string, std::string>& unbroken() {
  static const std::map<std::string, std::string> files = [] {
    const TemporaryDirectory directory;
    Process process(directory / "", command("1", "0.02", {}));
    REQUIRE(process.finish() == 0);
    return outcome(directory / "run");
  }();
  return files;
}

size_t lines(const fs::path& path) {
  const std::string text = read_whole(path);
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Waits for a run's n-th line; false if it ended before.
bool wait_for_line(Process& process, const fs::path& run, size_t n) {
  while (lines(run / "experiments.jsonl") < n) {
    if (process.has_ended()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// Checks that a run ended with exit code 1 and one message, with the reason and the command that resumes; then
/// resumes it. `kept`: the message's part about the finished experiments; without it, their number.
void check_failed_and_resumes(Process& process, const fs::path& folder, const std::string& why,
                              std::string kept = "") {
  const int code = process.finish();
  const std::string message = read_whole(process.messages());
  INFO(message);
  REQUIRE(code == 1);
  CHECK(message.starts_with("posbench: cannot "));
  CHECK(message.find(why) != message.npos);
  if (kept.empty())
    kept = std::to_string(lines(folder / "run/experiments.jsonl")) + " of 4 experiments are stored";
  CHECK(message.find(kept) != message.npos);
  CHECK(message.ends_with(" --resume\n"));
  Process resumed(folder, command("1", "60", {"--resume"}));
  REQUIRE(resumed.finish() == 0);
  CHECK(outcome(folder / "run") == unbroken());
}

}  // namespace

TEST_CASE("an interrupted run keeps unfinished training, prints the command that resumes it, and resumes") {
  const TemporaryDirectory directory;
  const std::vector<std::string> endless{"--set", "training.steps=10000000"};
  Process process(directory / "", command("2", "1000", endless));
  while (!fs::exists(directory / "run/checkpoints")) {
    REQUIRE_FALSE(process.has_ended());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const int code = process.finish(SIGTERM);
  const std::string message = read_whole(process.messages());
  INFO(message);
  CHECK(code == 130);
  const auto checkpoints = std::distance(fs::directory_iterator(directory / "run/checkpoints"), {});
  CHECK(message.starts_with("interrupted; 0 of 4 experiments are stored, and " + std::to_string(checkpoints) +
                            (checkpoints == 1 ? " more has" : " more have") + " a checkpoint. To continue:\n"));
  CHECK(message.ends_with(" --resume\n"));
  CHECK(checkpoints >= 1);
  CHECK(checkpoints <= 2);
}

TEST_CASE("a folder that is removed during a run ends it with a message, and after its return the run resumes") {
  const TemporaryDirectory directory;
  Process process(directory / "", command("1", "0.02", {}));
  REQUIRE(wait_for_line(process, directory / "run", 1));
  fs::rename(directory / "run", directory / "elsewhere");
  process.finish();
  CHECK_THAT(read_whole(process.messages()),
             ContainsSubstring("; the run directory no longer exists.") && !ContainsSubstring("are stored"));
  fs::rename(directory / "elsewhere", directory / "run");
  check_failed_and_resumes(process, directory / "", "No such file or directory", "--resume");
}

TEST_CASE("a folder that becomes read-only during a run ends it with a message, and once writable it resumes") {
  const TemporaryDirectory directory;
  Process process(directory / "", command("1", "1000", {}), [] {
    prctl(PR_CAPBSET_DROP, 1 /* CAP_DAC_OVERRIDE: permissions are to count for root, too */, 0, 0, 0);
  });
  REQUIRE(wait_for_line(process, directory / "run", 1));
  fs::permissions(directory / "run", fs::perms::owner_write, fs::perm_options::remove);
  process.finish();
  fs::permissions(directory / "run", fs::perms::owner_write, fs::perm_options::add);
  check_failed_and_resumes(process, directory / "", "Permission denied");
}

TEST_CASE("a damaged checkpoint is named, and its experiment starts from the beginning") {
  const TemporaryDirectory directory;
  std::vector<fs::path> checkpoints;
  while (checkpoints.empty()) {  // a run may have finished an experiment just as it was killed
    fs::remove_all(directory / "run");
    Process process(directory / "", command("1", "0.02", {}));
    wait_for_line(process, directory / "run", 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    process.finish(SIGKILL);
    for (const auto& entry : fs::directory_iterator(directory / "run/checkpoints")) {
      if (entry.path().extension() == ".safetensors") checkpoints.push_back(entry.path());
    }
  }
  fs::resize_file(checkpoints[0], fs::file_size(checkpoints[0]) / 2);
  Process resumed(directory / "", command("1", "60", {"--resume"}));
  REQUIRE(resumed.finish() == 0);
  const std::string message = read_whole(resumed.messages());
  INFO(message);
  CHECK(message.find("run/checkpoints/") == 0);
  CHECK(message.ends_with("it is truncated or damaged; its experiment starts from the beginning\n"));
  CHECK(outcome(directory / "run") == unbroken());
}

TEST_CASE("two runs cannot use one folder") {
  const TemporaryDirectory directory;
  const std::vector<std::string> endless{"--set", "training.steps=10000000"};
  Process process(directory / "", command("1", "1000", endless));
  while (!fs::exists(directory / "run/checkpoints")) {
    REQUIRE_FALSE(process.has_ended());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (const char* flag : {"--resume", "--force"}) {
    Process second(directory / "", command("1", "60", {flag}));
    CHECK(second.finish() == 2);
    CHECK(read_whole(second.messages()) ==
          "posbench: run is in use by another posbench; wait for it, or choose another -o\n");
  }
  REQUIRE_FALSE(process.has_ended());
  CHECK(process.finish(SIGKILL) == 128 + SIGKILL);
  Process replaced(directory / "", command("2", "60", {"--force"}));  // the lock went with the process
  REQUIRE(replaced.finish() == 0);
  CHECK(outcome(directory / "run") == unbroken());
}
