// Plug-ins, as the program loads them. tests/install has more tests of them.
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/temporary.h"

using namespace posbench;

TEST_CASE("a plug-in that fails is named, also if it ends the program or throws no exception of the library") {
  const TemporaryDirectory directory;
  struct Fault {
    const char *name, *message;
  };
  for (const auto& [name, message] :
       {Fault{"exit", "ends the program while it is loaded"},
        Fault{"int", "throws an exception while it is loaded"}, Fault{"exception", "no table"},
        Fault{"bad name<img>", "the name of task 'bad name<img>' is invalid"},
        Fault{"a\x1b[31m", "the name of task 'a?[31m' is invalid"}, Fault{"", "has no name"},
        Fault{"a,b", "is invalid"}, Fault{"flip_flop", "is registered twice"}}) {
    ::setenv("MARKED_TASK", name, 1);
    for (const char* command : {"list tasks", "list encodings"}) {
      const std::string error = refusal(directory, fmt::format("--plugin '{}' {}", POSBENCH_MARKED_TASK, command));
      INFO(error);
      CHECK(error.starts_with("posbench: plug-in '" POSBENCH_MARKED_TASK "': "));
      CHECK(contains(error, message));
    }
  }
  ::unsetenv("MARKED_TASK");
  ::setenv("MARKED_OPTION", "a b", 1);
  CHECK_THAT(refusal(directory, "--plugin '" POSBENCH_MARKED_TASK "' list tasks"),
             ContainsSubstring("the name of option 'a b' is invalid, expected letters"));
  ::unsetenv("MARKED_OPTION");
  const std::string load = "--plugin '" POSBENCH_MARKED_TASK "' ";
  for (const auto& [length, message] :
       {std::pair(13, "or posbench has a defect: the task has a defect at this length"),
        std::pair(14, "or posbench has a defect: an exception without a text"),
        std::pair(15, "ended the program")}) {
    const std::string task = fmt::format("marked_task:length={}", length);
    for (const std::string& command :
         {"sample " + task, "check " + task, "run --profile smoke -e none -q -t " + task,
          "export " + task + " -o x.jsonl"}) {
      const Outcome defect = posbench_command(directory, load + command);
      INFO(command);
      CHECK(defect.code == 3);
      CHECK(defect.error ==
            fmt::format("posbench: plug-in libmarked_task.so {}; correct it, or run without it\n", message));
    }
  }
}

TEST_CASE("plug-ins are loaded together") {
  const TemporaryDirectory directory;
  const Outcome both =
      posbench_command(directory, "--plugin '" POSBENCH_MARKED_TASK "' --plugin '" POSBENCH_MINE "' list tasks");
  CHECK(contains(both.out, "  marked_task "));
  CHECK(contains(both.out, "  first_token "));
  for (const char* command : {"list tasks", "show marked_task", "show marked_task --format markdown"}) {
    const Outcome shown = succeeded(directory, fmt::format("--plugin '{}' {}", POSBENCH_MARKED_TASK, command));
    CHECK_FALSE(contains(shown.out, "\x1b"));
  }
}
