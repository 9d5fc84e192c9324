// Plug-ins, as the program loads them. tests/install has more tests of them.
#include <string>

#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/temporary.h"

using namespace posbench;

TEST_CASE("a defect of a plug-in has exit code 3, and plug-ins are loaded together") {
  const TemporaryDirectory directory;
  const Outcome defect = posbench_command(
      directory, "--plugin '" POSBENCH_MARKED_TASK "' --plugin '" POSBENCH_MINE "' sample marked_task:length=13");
  CHECK(defect.code == 3);
  CHECK(
      defect.error ==
      "posbench: defect of posbench: the task has a defect at this length; please report it with the command and "
      "its input\n");
  const Outcome both =
      posbench_command(directory, "--plugin '" POSBENCH_MARKED_TASK "' --plugin '" POSBENCH_MINE "' list tasks");
  CHECK(both.out.find("  marked_task ") != std::string::npos);
  CHECK(both.out.find("  first_token ") != std::string::npos);
}
