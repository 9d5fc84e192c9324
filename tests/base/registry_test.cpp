#include "base/registry.h"

#include "tests/catch.h"

using namespace posbench;

TEST_CASE("a name that is registered twice and an empty name are refused with a line that names the entry") {
  Registry<int> registry{"encoding"};
  registry.add("alibi", 1);
  CHECK_THROWS_WITH(registry.add("alibi", 2),
                    "encoding 'alibi' is registered twice; the .name of each registration must differ");
  CHECK_THROWS_WITH(registry.add("", 3), "this encoding is registered without a name");
  CHECK(registry.find("alibi") == 1);
}
