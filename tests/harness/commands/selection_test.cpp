// The tasks and encodings that `posbench run` selects by patterns.
#include <algorithm>
#include <string>

#include "harness/config/embedded_data.h"
#include "tests/catch.h"
#include "tests/harness/command.h"

using namespace posbench;

TEST_CASE("all tasks and all encodings run in every profile") {
  const TemporaryDirectory directory;
  for (const auto& [profile, text] : profiles()) {
    INFO(profile);
    const Outcome outcome = succeeded(directory, "run -t all -e all -s 1 --list-only --profile " + profile);
    CHECK(std::ranges::count(outcome.out, '\n') > 1000);
    CHECK(std::ranges::count(outcome.error, '\n') <= 2);  // a note for tasks, and one for encodings
  }
}

TEST_CASE("a pattern leaves out what the settings exclude, with one note that states the reason") {
  const TemporaryDirectory directory;
  const std::string run = "run --list-only -s 1 --set model.attention=bidirectional -t ";
  const Outcome encodings = succeeded(directory, run + "reverse_string -e 'rop*,pat*'");
  CHECK_FALSE(contains(encodings.out, "path"));
  CHECK(encodings.error.starts_with(
      "note: 'rop*,pat*' leaves out path, path_fox, because these settings exclude them: encoding 'path' is "));
  CHECK(posbench_command(directory, run + "reverse_string -e 'rop*,pat*' -q").error.empty());

  const Outcome tasks = succeeded(directory, run + "'reverse_string,flip_flo*' -e none");
  CHECK(tasks.out == "reverse_string none 0\n");
  CHECK(tasks.error.starts_with("note: 'reverse_string,flip_flo*' leaves out flip_flop, because "));
}

TEST_CASE("a name that the settings exclude is refused, also if a pattern selects it too") {
  const TemporaryDirectory directory;
  const std::string run = "run --list-only -s 1 --set model.attention=bidirectional ";
  for (const char* selection : {"-t reverse_string -e 'rop*,path'", "-t reverse_string -e 'path,pa*'"}) {
    INFO(selection);
    CHECK(contains(refusal(directory, run + selection), "encoding 'path' is defined for causal models only"));
  }
  for (const char* selection : {"-t flip_flop -e 'rop*'", "-t 'flip_flo*' -e rope"}) {
    INFO(selection);
    CHECK(contains(refusal(directory, run + selection),
                   "task 'flip_flop' has target positions inside its sequences"));
  }
}

TEST_CASE("a pattern of tasks leaves out those that a named encoding excludes") {
  const TemporaryDirectory directory;
  const std::string named = refusal(directory, "run --list-only -s 1 -t 'counting,flip_*' -e randomized:max=40");
  CHECK(contains(named, "encoding 'randomized': max is 40, less than the longest sequence"));
  const Outcome pattern = succeeded(directory, "run --list-only -s 1 -t all -e randomized:max=300");
  CHECK(contains(pattern.error, "encoding 'randomized': max is 300, less than"));
}

TEST_CASE("if the settings exclude everything that a pattern selects, the error states the first reason") {
  const TemporaryDirectory directory;
  const Outcome outcome = posbench_command(
      directory, "run --list-only -t 'reverse_s*,bucket_*' -e path --set model.attention=bidirectional");
  CHECK(outcome.code == 2);
  CHECK(outcome.error.starts_with("posbench: 'reverse_s*,bucket_*' selects nothing that these settings allow: "));
  CHECK(contains(outcome.error, "encoding 'path' is defined for causal models only"));
}
