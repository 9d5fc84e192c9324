// The file of each encoding lies in the folder of its family.
#include <algorithm>
#include <filesystem>
#include <string>

#include "encodings/registry.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

/// Returns the name of the enumerator: "two_level" for the text "two-level".
std::string folder_name(Family family) {
  std::string name = to_string(family);
  std::ranges::replace_if(
      name, [](char c) { return c == ' ' || c == '-'; }, '_');
  return name;
}

}  // namespace

TEST_CASE("each file in a folder of a family registers the encoding of its name with this family") {
  int files = 0;
  for (const auto& folder : std::filesystem::directory_iterator(POSBENCH_SOURCE_DIR "/encodings")) {
    if (!folder.is_directory() || folder.path().filename() == "parts") continue;
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
      CAPTURE(file.path().string());
      REQUIRE(encodings().contains(file.path().stem().string()));
      const EncodingInfo& info = encodings().find(file.path().stem().string()).info;
      CHECK(folder.path().filename() == folder_name(info.family));
      ++files;
    }
  }
  CHECK(files > 0);
}
